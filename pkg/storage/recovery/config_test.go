// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/rest"
)

// optionsExcept returns options with the resource as the prefix, and an error for one resource.
type optionsExcept string

func (o optionsExcept) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	if resource.Resource == string(o) {
		return generic.RESTOptions{}, errors.New("failed")
	}
	return generic.RESTOptions{ResourcePrefix: resource.String()}, nil
}

func TestStorageIsSetForEachKind(t *testing.T) {
	config := &Config{}
	if err := config.SetStorage(optionsExcept("")); err != nil {
		t.Fatal(err)
	}
	got := []string{config.Boxes.ResourcePrefix, config.Stacks.ResourcePrefix, config.Networks.ResourcePrefix}
	if diff := cmp.Diff([]string{"modelboxes.model.github.com", "modelstacks.model.github.com", "networks.model.github.com"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, resource := range []string{"modelboxes", "modelstacks", "networks"} {
		if err := (&Config{}).SetStorage(optionsExcept(resource)); err == nil || !strings.Contains(err.Error(), "finding the storage of "+resource) {
			t.Errorf("without the storage of %s: %v", resource, err)
		}
	}
}

func TestClientsNameTheRecoveryAndDoNotWaitForever(t *testing.T) {
	var agents []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.UserAgent())
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	config, clientConfig := &Config{}, &rest.Config{Host: server.URL, UserAgent: "modelbox"}
	if err := config.SetClients(clientConfig); err != nil {
		t.Fatal(err)
	}
	_, _ = config.KubeClient.CoordinationV1().Leases(testNamespace).Get(t.Context(), "modelbox", metav1.GetOptions{})
	_, _ = config.MetadataClient.Resource(services).List(t.Context(), metav1.ListOptions{})
	if len(agents) != 2 {
		t.Errorf("the clients sent %d requests", len(agents))
	}
	for _, agent := range agents {
		if !strings.HasSuffix(agent, "/store-recovery") {
			t.Errorf("a client names itself %q", agent)
		}
	}
	if timeout := config.KubeClient.CoordinationV1().RESTClient().(*rest.RESTClient).Client.Timeout; timeout != requestTimeout {
		t.Errorf("the timeout is %s", timeout)
	}
	if clientConfig.UserAgent != "modelbox" || clientConfig.Timeout != 0 {
		t.Errorf("the configuration of other clients changed: %v", clientConfig)
	}
	if err := (&Config{}).SetClients(&rest.Config{Host: "http://[::1"}); err == nil || !strings.Contains(err.Error(), "for the recovery of the store") {
		t.Errorf("an invalid address: %v", err)
	}
}
