module github.com/unifiedtoolprotocol/utp/sdktest

go 1.26.0
