// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const misspelt = `{"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "web"},
	"spec": {"image": "nginx:1.7.9", "replicsa": 3}}`

func TestUnknownFieldIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	t.Run("by kubectl", func(t *testing.T) {
		n := n.In(t)
		complaint := n.Kubectl.RunFailing(misspelt, "create", "--filename=-")
		if !strings.Contains(complaint, `unknown field "spec.replicsa"`) {
			t.Errorf("kubectl does not name the field:\n%s", complaint)
		}
	})
	t.Run("by the API when asked to be strict", func(t *testing.T) {
		n := n.In(t)
		err := postBox(n, misspelt, "Strict")
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "spec.replicsa"`) {
			t.Errorf("want a bad request that names the field, got %v", err)
		}
	})
	t.Run("by the API for a field given twice", func(t *testing.T) {
		n := n.In(t)
		err := postBox(n, strings.Replace(misspelt, `"replicsa": 3`, `"replicas": 3, "replicas": 4`, 1), "Strict")
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `duplicate field "spec.replicas"`) {
			t.Errorf("want a bad request that names the field, got %v", err)
		}
	})
	t.Run("by server-side apply, whatever it is asked", func(t *testing.T) {
		n := n.In(t)
		complaint := n.Kubectl.RunFailing(misspelt, "apply", "--server-side", "--validate=false", "--filename=-")
		if !strings.Contains(complaint, ".spec.replicsa: field not declared in schema") {
			t.Errorf("kubectl does not name the field:\n%s", complaint)
		}
	})
	n.ExpectNoBox("web")
}

func TestWrongTypeIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct{ name, spec, words string }{
		{"a word for a number", `{"image": "nginx", "replicas": "three"}`, "spec.replicas"},
		{"an object for a list", `{"image": "nginx", "ports": {"port": 80}}`, "spec.ports"},
		{"a number above the largest", `{"image": "nginx", "replicas": 3000000000}`, "spec.replicas"},
		{"no JSON at all", `{"image": `, "json parse error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			err := postBox(n, fmt.Sprintf(`{"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "web"}, "spec": %s}`, test.spec), "")
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("want a bad request that says %q, got %v", test.words, err)
			}
		})
	}
	n.ExpectNoBox("web")
}

func TestHugeBoxIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for name, size := range map[string]int{"2 MB": 2 << 20, "4 MB": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			n := n.In(t)
			_, err := n.Boxes.Create(n.Ctx, framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) {
				spec.Envs = []corev1.EnvVar{{Name: "TEXT", Value: strings.Repeat("x", size)}}
			}), metav1.CreateOptions{})
			if !apierrors.IsRequestEntityTooLargeError(err) {
				t.Errorf("want it refused as too large, got %.200v", err)
			}
		})
	}
	n.ExpectNoBox("web")
	n.CreateReadyBox(framework.NewBox("web")) // it goes on serving
}

// postBox sends a box as it stands. An empty validation is the API's default.
func postBox(n *framework.Namespace, body, validation string) error {
	request := framework.SharedControlPlane().ModelClient.ModelV1().RESTClient().Post().Namespace(n.Name).Resource("modelboxes").
		SetHeader("Content-Type", "application/json").Body([]byte(body))
	if validation != "" {
		request.Param("fieldValidation", validation)
	}
	return request.Do(n.Ctx).Error()
}
