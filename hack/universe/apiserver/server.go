// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver serves the objects of a cluster and of ModelBox from memory, with the handlers, strategies, defaults and
// validation of the real API servers.
package apiserver

import (
	"net"
	"net/http"
	"strings"

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
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// administrator sends all requests.
var administrator = &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}

// newConfig returns the configuration of a server that handles requests in memory, and allows all of them.
func newConfig(codecs serializer.CodecFactory, definitions common.GetOpenAPIDefinitions, schemes ...*runtime.Scheme) *genericapiserver.RecommendedConfig {
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.ExternalAddress = net.JoinHostPort("universe", "443")
	config.LoopbackClientConfig = &restclient.Config{}
	config.AdmissionControl = admission.NewChainHandler()
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	namer := openapi.NewDefinitionNamer(schemes...)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.GetDefinitionName = func(name string) (string, spec.Extensions) { return namer.GetDefinitionName(definitionName(name)) }
	config.EnableMetrics, config.EnableProfiling, config.EnableIndex = false, false, false
	config.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		handler = filters.WithRequestInfo(withAdministrator(handler), config.RequestInfoResolver)
		return filters.WithRequestReceivedTimestamp(filters.WithAuditInit(handler))
	}
	return config
}

// definitionName returns the name of the OpenAPI definition of a type. Types that have no name of their own are called by their path.
func definitionName(name string) string {
	if strings.Contains(name, "/") {
		return util.ToRESTFriendlyName(name)
	}
	return name
}

func withAdministrator(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, req.WithContext(request.WithUser(req.Context(), administrator)))
	})
}
