// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package frontproxy avoids authorization requests for users that a front proxy, the aggregation layer of kube-apiserver, has
// already authenticated and authorized.
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

// proxiedUser is a user that a front proxy has authenticated. A user that the request impersonates is not one.
type proxiedUser struct{ user.Info }

// NewAuthenticator returns an authenticator that marks users that a front proxy has authenticated, for NewAuthorizer. It delegates
// all other requests. All fields of config must be set.
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
