// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"testing"

	apiservertesting "github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/testing"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

// testServer is a server of the product and a client of it.
type testServer struct {
	*apiservertesting.TestServer
	client versioned.Interface
}

func startServer(t *testing.T) *testServer {
	t.Helper()
	server := apiservertesting.StartTestServer(t)
	client, err := versioned.NewForConfig(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	return &testServer{TestServer: server, client: client}
}

// keyOf is where a box of the default namespace is kept.
func keyOf(name string) string { return "/registry/model.github.com/modelboxes/default/" + name }

// stored returns the bytes in etcd of a box of the default namespace.
func (s *testServer) stored(t *testing.T, name string) []byte {
	t.Helper()
	response, err := s.EtcdClient.Get(t.Context(), keyOf(name))
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Kvs) != 1 {
		t.Fatalf("there are %d values at %s", len(response.Kvs), keyOf(name))
	}
	return decompress(t, response.Kvs[0].Value)
}

func decompress(t *testing.T, stored []byte) []byte {
	t.Helper()
	data, _, err := compression.Decompress(stored)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
