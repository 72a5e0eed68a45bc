// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/frontproxy"
)

// trustFrontProxy lets requests that came through the aggregation layer, which has authorized them, be authorized for all the
// objects of a namespace at once. It does nothing where there is no front proxy, or nobody is asked.
func trustFrontProxy(config *genericapiserver.Config) {
	if config.Authentication.RequestHeaderConfig == nil || config.Authorization.Authorizer == nil {
		return
	}
	config.Authentication.Authenticator = frontproxy.NewAuthenticator(config.Authentication.RequestHeaderConfig, config.Authentication.Authenticator)
	config.Authorization.Authorizer = frontproxy.NewAuthorizer(config.Authorization.Authorizer)
}
