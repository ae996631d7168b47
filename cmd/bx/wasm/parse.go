//go:build js && !render

package main

func (*engine) more(map[string]any) {}
