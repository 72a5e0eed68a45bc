// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostclustertest plays clusters of different versions for tests.
package hostclustertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

// documentPath is the path of the only OpenAPI document. It is for Deployments, whose pods have most of the fields.
const documentPath = "apis/apps/v1"

// Server is a cluster that serves its version and the fields of pods.
type Server struct {
	config *rest.Config

	mu        sync.Mutex
	minor     string
	isDown    bool
	documents int
}

// NewServer returns a cluster of a minor version, such as "1.34", that runs until the test ends.
func NewServer(t *testing.T, minor string) *Server {
	t.Helper()
	s := &Server{minor: minor}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.config = &rest.Config{Host: server.URL, QPS: -1}
	return s
}

// Cluster returns the cluster as the product knows it, which is not at all before it has asked.
func (s *Server) Cluster(t *testing.T, clock clock.PassiveClock) *hostcluster.Cluster {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	return hostcluster.New(client, clock)
}

// Upgrade makes it a cluster of another version.
func (s *Server) Upgrade(minor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.minor = minor
}

// SetDown makes it fail every request, or answer again.
func (s *Server) SetDown(isDown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isDown = isDown
}

// Documents returns how often an OpenAPI document was asked for.
func (s *Server) Documents() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.documents
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isDown {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	var answer any
	switch r.URL.Path {
	case "/version":
		answer = version.Info{GitVersion: "v" + s.minor + ".0"}
	case "/openapi/v3":
		answer = handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{
			documentPath: {ServerRelativeURL: "/openapi/v3/" + documentPath + "?hash=" + s.minor},
		}}
	case "/openapi/v3/" + documentPath:
		s.documents++
		answer = document(s.minor)
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// document has the definitions of the product without the fields that came after the minor version.
func document(minor string) any {
	definitions := map[string]any{
		appsv1.DeploymentSpec{}.OpenAPIModelName(): map[string]any{"properties": map[string]any{
			"minReadySeconds": nil, "paused": nil, "progressDeadlineSeconds": nil, "replicas": nil, "revisionHistoryLimit": nil,
			"selector": nil, "strategy": nil, "template": nil,
		}},
	}
	for name, definition := range openapi.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} }) {
		properties := map[string]any{}
		for property := range definition.Schema.Properties {
			if !isNewer(name, property, minor) {
				properties[property] = nil
			}
		}
		definitions[name] = map[string]any{"properties": properties}
	}
	return map[string]any{"components": map[string]any{"schemas": definitions}}
}

// isNewer returns whether a property of a definition came after the minor version.
func isNewer(definition, property, minor string) bool {
	path, isKubernetes := strings.CutPrefix(definition, "io.k8s.api.")
	if !isKubernetes {
		return false
	}
	group, rest, _ := strings.Cut(path, ".")
	field := hostcluster.Field{Type: group + "/" + rest, Name: property}
	if field.Type == "core/v1.EphemeralContainer" {
		field.Type = "core/v1.EphemeralContainerCommon" // which is embedded in it, and has all of its fields but one
	}
	return field.IntroducedIn() > minor
}
