// Package learn decides from what was seen which form of tools a model works
// best in, and how sure that is.
//
// The unit is a reply to a request that offered tools: good, bad, or without a
// call. A Share is how many of how many; its Interval says where the true share
// lies.
package learn
