//go:build wasip1 && !render

package main

func more() {}
