// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver serves the objects of a cluster and of ModelBox from memory, with the handlers, strategies, defaults and
// validation of the real API servers.
package apiserver

import (
	"net"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	restclient "k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/common"
)

// administrator sends all requests.
var administrator = &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}

// newConfig returns the configuration of a server that handles requests in memory, and allows all of them.
func newConfig(scheme *runtime.Scheme, codecs serializer.CodecFactory, definitions common.GetOpenAPIDefinitions) *genericapiserver.RecommendedConfig {
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.ExternalAddress = net.JoinHostPort("universe", "443")
	config.LoopbackClientConfig = &restclient.Config{}
	config.AdmissionControl = admission.NewChainHandler()
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, openapi.NewDefinitionNamer(scheme))
	config.EnableMetrics, config.EnableProfiling, config.EnableIndex = false, false, false
	config.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		handler = filters.WithRequestInfo(withAdministrator(handler), config.RequestInfoResolver)
		return filters.WithRequestReceivedTimestamp(filters.WithAuditInit(handler))
	}
	return config
}

func withAdministrator(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, req.WithContext(request.WithUser(req.Context(), administrator)))
	})
}
