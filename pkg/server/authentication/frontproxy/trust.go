// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package frontproxy

import genericapiserver "k8s.io/apiserver/pkg/server"

// Trust authorizes requests that came through the aggregation layer, which has authorized them, for all objects of a
// namespace at once. It does nothing without a front proxy or without an authorizer.
func Trust(config *genericapiserver.Config) {
	if config.Authentication.RequestHeaderConfig == nil || config.Authorization.Authorizer == nil {
		return
	}
	config.Authentication.Authenticator = NewAuthenticator(config.Authentication.RequestHeaderConfig, config.Authentication.Authenticator)
	config.Authorization.Authorizer = NewAuthorizer(config.Authorization.Authorizer)
}
