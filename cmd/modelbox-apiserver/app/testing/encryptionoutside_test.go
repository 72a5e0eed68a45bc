// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/storage/etcd3/testserver"
	"k8s.io/component-base/metrics/legacyregistry"
)

// reloadsMetric counts how often the servers of the process have read another configuration.
const reloadsMetric = "apiserver_encryption_config_controller_automatic_reloads_total"

// TestEncryptionOfTwoServersIsChangedUnderRequests turns encryption of an outside etcd on, rotates its key, gives it to a plugin, and
// turns it off, in the steps of docs/growth.md. The files of the servers change one after the other, and both have users. A wrong file
// changes nothing.
func TestEncryptionOfTwoServersIsChangedUnderRequests(t *testing.T) {
	etcd := testserver.RunEtcd(t, nil)
	flags := []string{"--etcd-servers=" + strings.Join(etcd.Endpoints(), ","), "--encryption-provider-config-automatic-reload"}
	stores := []*encryptedStore{newEncryptedStore(t), newEncryptedStore(t)}
	plugin := stores[0].startPlugin(t, "outside")
	secretbox := func(names ...string) string {
		var keys []string
		for _, name := range names {
			keys = append(keys, fmt.Sprintf("{name: %s, secret: %s}", name, key(name[len(name)-1])))
		}
		return "secretbox: {keys: [" + strings.Join(keys, ", ") + "]}"
	}

	var servers []*TestServer
	for _, store := range stores {
		store.configure(t, identityProvider, secretbox("key1"))
		servers = append(servers, StartTestServer(t, append(flags, "--encryption-provider-config="+store.config)...))
	}
	servers[0].createOneOfEach(t)
	created := servers[0].objects(t)
	if err := servers[1].checkStored(t.Context(), plainPrefix); err != nil {
		t.Fatal(err)
	}
	var stops []func() int64
	for _, server := range servers {
		stops = append(stops, server.keepUsing(t))
	}
	for _, step := range []struct {
		name      string
		providers []string
		// prefix is what is stored begins with when all objects are rewritten after the step. They are not where it is empty.
		prefix string
	}{
		{"the key is the first one", []string{secretbox("key1"), identityProvider}, "k8s:enc:secretbox:v1:key1:"},
		{"plain text is not read", []string{secretbox("key1")}, ""},
		{"there is a second key", []string{secretbox("key1", "key2")}, ""},
		{"the second key is the first one", []string{secretbox("key2", "key1")}, "k8s:enc:secretbox:v1:key2:"},
		{"the former key is taken away", []string{secretbox("key2")}, ""},
		{"the plugin is the second one", []string{secretbox("key2"), plugin.provider()}, ""},
		{"the plugin is the first one", []string{plugin.provider(), secretbox("key2")}, plugin.prefix()},
		{"plain text is read", []string{plugin.provider(), identityProvider}, ""},
		{"plain text is written", []string{identityProvider, plugin.provider()}, plainPrefix},
	} {
		for number, store := range stores {
			servers[number].expectReload(t, "success", func() { store.configure(t, step.providers...) })
		}
		if step.prefix != "" {
			servers[0].rewrite(t, step.prefix)
		}
		for _, server := range servers {
			server.expectObjects(t, created)
		}
		if t.Failed() {
			t.Fatalf("it was when %s", step.name)
		}
	}
	servers[1].expectReload(t, "failure", func() { stores[1].configure(t, secretbox("key1"), "aescbc: {keys: []}") })
	servers[1].expectObjects(t, created)
	for _, stop := range stops {
		if stop() == 0 {
			t.Error("no request was answered")
		}
	}
	StartTestServer(t, flags[0]).expectObjects(t, created)
}

// expectReload changes the file of a server and waits until a server of the process has read a file with this result.
func (s *TestServer) expectReload(t *testing.T, result string, change func()) {
	t.Helper()
	before := reloads(t, result)
	change()
	s.eventually(t, "another configuration is read with "+result, func(context.Context) error {
		if reloads(t, result) == before {
			return errors.New("none is")
		}
		return nil
	})
}

// reloads returns how often servers of the process have read another configuration than before, with this result.
func reloads(t *testing.T, result string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var count float64
	for _, family := range families {
		if family.GetName() != reloadsMetric {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "status" && label.GetValue() == result {
					count += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return count
}
