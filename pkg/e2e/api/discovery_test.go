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
		"modelboxes/render": {
			Name: "modelboxes/render", Namespaced: true, Kind: "ModelBox",
			Verbs: metav1.Verbs{"create", "get"},
		},
		"modelboxes/diff": {
			Name: "modelboxes/diff", Namespaced: true, Kind: "ModelBox",
			Verbs: metav1.Verbs{"create", "get"},
		},
		"modelboxes/restart": {
			Name: "modelboxes/restart", Namespaced: true, Kind: "ModelBoxRestart",
			Verbs: metav1.Verbs{"create"},
		},
		"modelboxes/retry": {
			Name: "modelboxes/retry", Namespaced: true, Kind: "ModelBoxRetry",
			Verbs: metav1.Verbs{"create"},
		},
		"modelboxes/promote": {
			Name: "modelboxes/promote", Namespaced: true, Kind: "ModelBoxPromotion",
			Verbs: metav1.Verbs{"create"},
		},
		"modelboxes/abort": {
			Name: "modelboxes/abort", Namespaced: true, Kind: "ModelBoxAbort",
			Verbs: metav1.Verbs{"create"},
		},
		"modelboxes/history": {
			Name: "modelboxes/history", Namespaced: true, Kind: "ModelBoxHistory",
			Verbs: metav1.Verbs{"get"},
		},
		"modelboxes/rollback": {
			Name: "modelboxes/rollback", Namespaced: true, Kind: "ModelBoxRollback",
			Verbs: metav1.Verbs{"create"},
		},
		"modelboxes/log": {
			Name: "modelboxes/log", Namespaced: true, Kind: "ModelBox",
			Verbs: metav1.Verbs{"get"},
		},
		"modelboxes/exec": {
			Name: "modelboxes/exec", Namespaced: true, Kind: "ModelBoxExecOptions",
			Verbs: metav1.Verbs{"create", "get"},
		},
		"modelboxes/attach": {
			Name: "modelboxes/attach", Namespaced: true, Kind: "ModelBoxAttachOptions",
			Verbs: metav1.Verbs{"create", "get"},
		},
		"modelboxes/portforward": {
			Name: "modelboxes/portforward", Namespaced: true, Kind: "ModelBoxPortForwardOptions",
			Verbs: metav1.Verbs{"create", "get"},
		},
		"modelboxes/debug": {
			Name: "modelboxes/debug", Namespaced: true, Kind: "ModelBoxDebug",
			Verbs: metav1.Verbs{"create"},
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
			// The cluster merges the schema some time after the APIService becomes available.
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

// TestOpenAPIDescribesSubresources checks the request and response types of the actions on boxes.
func TestOpenAPIDescribesSubresources(t *testing.T) {
	t.Parallel()
	data, err := framework.SharedControlPlane().KubeClient.Discovery().RESTClient().Get().AbsPath("/openapi/v3/apis/model.github.com/v1").
		SetHeader("Accept", "application/json").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type content struct {
		Content map[string]struct {
			Schema struct {
				Ref   string `json:"$ref"`
				AllOf []struct {
					Ref string `json:"$ref"`
				}
			}
		}
	}
	type operation struct {
		RequestBody content
		Responses   map[string]content
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	schemaOf := func(c content, mediaType string) string {
		schema := c.Content[mediaType].Schema
		if len(schema.AllOf) > 0 {
			schema.Ref = schema.AllOf[0].Ref
		}
		return schema.Ref[strings.LastIndexByte(schema.Ref, '/')+1:]
	}
	for _, row := range []struct{ subresource, verb, code, takes, answers string }{
		{"render", "get", "200", "", "io.k8s.apimachinery.pkg.apis.meta.v1.List"},
		{"render", "post", "201", "com.github.model.v1.ModelBox", "io.k8s.apimachinery.pkg.apis.meta.v1.List"},
		{"diff", "get", "200", "", "com.github.model.v1.ModelBoxDiff"},
		{"diff", "post", "201", "com.github.model.v1.ModelBox", "com.github.model.v1.ModelBoxDiff"},
		{"restart", "post", "201", "com.github.model.v1.ModelBoxRestart", "com.github.model.v1.ModelBoxRestart"},
		{"history", "get", "200", "", "com.github.model.v1.ModelBoxHistory"},
		{"rollback", "post", "201", "com.github.model.v1.ModelBoxRollback", "com.github.model.v1.ModelBoxRollback"},
		{"debug", "post", "201", "com.github.model.v1.ModelBoxDebug", "com.github.model.v1.ModelBoxDebug"},
	} {
		t.Run(row.verb+" "+row.subresource, func(t *testing.T) {
			var described operation
			path := "/apis/model.github.com/v1/namespaces/{namespace}/modelboxes/{name}/" + row.subresource
			if err := json.Unmarshal(document.Paths[path][row.verb], &described); err != nil {
				t.Fatalf("it is not described: %v", err)
			}
			if takes := schemaOf(described.RequestBody, "*/*"); takes != row.takes {
				t.Errorf("it takes %q, want %q", takes, row.takes)
			}
			if answers := schemaOf(described.Responses[row.code], "application/json"); answers != row.answers {
				t.Errorf("it answers %q, want %q", answers, row.answers)
			}
		})
	}
}
