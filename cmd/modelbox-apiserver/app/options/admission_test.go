// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

// configFor returns a configuration whose host cluster answers discovery with the resources, or not at all.
func configFor(t *testing.T, resources *metav1.APIResourceList) *genericapiserver.RecommendedConfig {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if resources == nil || r.URL.Path != "/apis/admissionregistration.k8s.io/v1" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(resources); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(host.Close)
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.ClientConfig = &rest.Config{Host: host.URL}
	return config
}

func TestPoliciesThatTheHostDoesNotServeAreOff(t *testing.T) {
	const validating, mutating = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
	for _, row := range []struct {
		name   string
		served []string
		want   []string
	}{
		{"a host with both", []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"}, nil},
		{"a host with the older one", []string{"validatingadmissionpolicies", "validatingwebhookconfigurations"}, []string{mutating}},
		{"a host with webhooks only", []string{"validatingwebhookconfigurations"}, []string{mutating, validating}},
	} {
		t.Run(row.name, func(t *testing.T) {
			resources := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
			for _, name := range row.served {
				resources.APIResources = append(resources.APIResources, metav1.APIResource{Name: name})
			}
			admission := genericoptions.NewAdmissionOptions()
			before := admission.DefaultOffPlugins.Clone()
			if err := turnOffUnservedPolicies(admission, configFor(t, resources)); err != nil {
				t.Fatal(err)
			}
			got := sets.List(admission.DefaultOffPlugins.Difference(before))
			if diff := cmp.Diff(row.want, got); diff != "" && len(row.want)+len(got) > 0 {
				t.Errorf("turned off, -want +got:\n%s", diff)
			}
		})
	}
}

func TestAHostThatCannotBeAskedIsNoHostWithoutPolicies(t *testing.T) {
	if err := turnOffUnservedPolicies(genericoptions.NewAdmissionOptions(), configFor(t, nil)); err == nil {
		t.Error("the policies of a host that did not answer are off")
	}
}
