// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters/bodylimit"
)

// limitBodies bounds how much memory the bodies of requests take. The generic server only limits how many bytes one has.
func limitBodies(config *genericapiserver.Config) {
	build := config.BuildHandlerChainFunc
	config.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		return build(bodylimit.WithLimit(handler, apiserver.Scheme, c.Serializer, c.MaxRequestBodyBytes), c)
	}
}
