// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestAPIServiceIsVerifiedAndAvailable(t *testing.T) {
	t.Parallel()
	apiService := framework.SharedControlPlane().ReadAPIService(t)
	if len(apiService.Spec.CABundle) == 0 || apiService.Spec.InsecureSkipTLSVerify {
		t.Errorf("the server's certificate is not verified: caBundle has %d bytes, insecureSkipTLSVerify is %t",
			len(apiService.Spec.CABundle), apiService.Spec.InsecureSkipTLSVerify)
	}
	for _, condition := range apiService.Status.Conditions {
		if condition.Type == "Available" && condition.Status == "True" {
			return
		}
	}
	t.Errorf("the APIService is not Available: %v", apiService.Status.Conditions)
}

func TestDiscoveryListsModelBoxes(t *testing.T) {
	t.Parallel()
	resources, err := framework.SharedControlPlane().KubeClient.Discovery().ServerResourcesForGroupVersion(modelv1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]metav1.APIResource{}
	for _, resource := range resources.APIResources {
		if name, _, _ := strings.Cut(resource.Name, "/"); name == "modelboxes" {
			resource.StorageVersionHash = ""
			got[resource.Name] = resource
		}
	}
	want := map[string]metav1.APIResource{
		"modelboxes": {
			Name: "modelboxes", SingularName: "modelbox", Namespaced: true, Kind: "ModelBox",
			Verbs:      metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
			ShortNames: []string{"mb"}, Categories: []string{"all"},
		},
		"modelboxes/status": {
			Name: "modelboxes/status", Namespaced: true, Kind: "ModelBox",
			Verbs: metav1.Verbs{"get", "patch", "update"},
		},
		"modelboxes/scale": {
			Name: "modelboxes/scale", Namespaced: true, Kind: "Scale", Group: "autoscaling", Version: "v1",
			Verbs: metav1.Verbs{"get", "patch", "update"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("discovery of %s (-want +got):\n%s", modelv1.SchemeGroupVersion, diff)
	}
}

// TestOpenAPIDescribesModelBoxes finds the kind by the extension that clients find it by.
func TestOpenAPIDescribesModelBoxes(t *testing.T) {
	t.Parallel()
	for _, document := range []struct{ name, path string }{
		{"version 2 of the whole cluster", "/openapi/v2"},
		{"version 3 of the group", "/openapi/v3/apis/model.github.com/v1"},
	} {
		t.Run(document.name, func(t *testing.T) {
			// The cluster merges what it fetched some time after the APIService became available.
			framework.Eventually(t, framework.Patience, "the document describes ModelBox", func() error {
				data, err := framework.SharedControlPlane().KubeClient.Discovery().RESTClient().Get().AbsPath(document.path).
					SetHeader("Accept", "application/json").DoRaw(t.Context())
				if err != nil {
					return err
				}
				return describesBox(data)
			})
		})
	}
}

func describesBox(document []byte) error {
	type schema struct {
		Properties map[string]any
		Kinds      []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
	var parsed struct {
		Definitions map[string]schema
		Components  struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return err
	}
	want := metav1.GroupVersionKind{Group: "model.github.com", Version: "v1", Kind: "ModelBox"}
	for _, schemas := range []map[string]schema{parsed.Definitions, parsed.Components.Schemas} {
		for _, schema := range schemas {
			for _, kind := range schema.Kinds {
				if kind == want && schema.Properties["spec"] != nil && schema.Properties["status"] != nil {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("no schema of %v with spec and status", want)
}
