package oidc_test

import (
	"context"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
)

// A token that nobody has signed is nobody's.
func ExampleIssuer_Verify() {
	issuer, err := oidc.New(oidc.Config{
		Issuer: "https://login.example.com", Audience: "bx", Claim: "groups",
		Teams: []oidc.Team{{Value: "platform-engineers", Team: "platform"}},
	}, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = issuer.Verify(context.Background(), "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.")
	fmt.Println(err)
	// Output: the token cannot be believed: token signature is invalid: signing method none is invalid
}
