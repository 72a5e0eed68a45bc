// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"net/http/httptest"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

// testServer is a server without a cluster around it: it lets everybody do everything, and has no controllers. Its
// storage is what the command line makes of it.
type testServer struct {
	etcd  *clientv3.Client
	boxes versioned.Interface
}

func startServer(t *testing.T) *testServer {
	t.Helper()
	o := parse(t, "--data-dir="+t.TempDir())
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	embedded, err := embeddedetcd.Start(t.Context(), o.Storage.EmbeddedEtcd())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Stop)
	etcd, err := clientv3.New(clientv3.Config{Endpoints: o.Recommended.Etcd.StorageConfig.Transport.ServerList})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })

	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.LoopbackClientConfig = &rest.Config{}
	config.ExternalAddress = "localhost:443"
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	if err := o.Storage.ApplyTo(o.Recommended.Etcd, &config.Config); err != nil {
		t.Fatal(err)
	}
	server, err := (&apiserver.Config{GenericConfig: config}).Complete().New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Destroy)
	serving := httptest.NewServer(server.Handler)
	t.Cleanup(serving.Close)
	boxes, err := versioned.NewForConfig(&rest.Config{Host: serving.URL})
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{etcd: etcd, boxes: boxes}
}

// keyOf is where a box of the default namespace is kept.
func keyOf(name string) string { return "/registry/model.github.com/modelboxes/default/" + name }

// stored returns the bytes in etcd of a box of the default namespace.
func (s *testServer) stored(t *testing.T, name string) []byte {
	t.Helper()
	response, err := s.etcd.Get(t.Context(), keyOf(name))
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Kvs) != 1 {
		t.Fatalf("there are %d values at %s", len(response.Kvs), keyOf(name))
	}
	return response.Kvs[0].Value
}
