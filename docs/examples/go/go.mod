module example.com/programs

go 1.26.0

require github.com/unifiedtoolprotocol/utp v0.0.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/text v0.42.0 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

replace github.com/unifiedtoolprotocol/utp => ../../..
