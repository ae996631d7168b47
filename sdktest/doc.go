// Package sdktest drives the module's programs with clients of other vendors,
// as a second opinion. It is a module of its own, needs node, and runs with
// "make sdktest".
package sdktest
