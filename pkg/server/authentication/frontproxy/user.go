// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package frontproxy makes use of what a front proxy, which is kube-apiserver's aggregation layer, has done with a request
// before it passed it on: it has authenticated and authorized it.
package frontproxy

import (
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
)

// proxiedUser is a user that a front proxy vouches for. One that the request impersonates then is not.
type proxiedUser struct{ user.Info }

// NewAuthenticator returns an authenticator that knows those whom a front proxy vouches for again in NewAuthorizer, and takes
// the word of delegate for everybody else. Of config, everything has to be given.
func NewAuthenticator(config *authenticatorfactory.RequestHeaderConfig, delegate authenticator.Request) authenticator.Request {
	proxied := group.NewAuthenticatedGroupAdder(headerrequest.NewDynamicVerifyOptionsSecure(
		config.CAContentProvider.VerifyOptions,
		config.AllowedClientNames,
		config.UsernameHeaders,
		config.UIDHeaders,
		config.GroupHeaders,
		config.ExtraHeaderPrefixes,
	))
	return union.New(authenticator.RequestFunc(func(request *http.Request) (*authenticator.Response, bool, error) {
		response, ok, err := proxied.AuthenticateRequest(request)
		if ok {
			response.User = proxiedUser{response.User}
		}
		return response, ok, err
	}), delegate)
}
