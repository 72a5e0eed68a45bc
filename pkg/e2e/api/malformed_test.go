// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
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
	t.Run("by server-side apply, whatever it is asked", func(t *testing.T) {
		n := n.In(t)
		complaint := n.Kubectl.RunFailing(misspelt, "apply", "--server-side", "--validate=false", "--filename=-")
		if !strings.Contains(complaint, ".spec.replicsa: field not declared in schema") {
			t.Errorf("kubectl does not name the field:\n%s", complaint)
		}
	})
	n.ExpectNoBox("web")
}

func TestTooLargeBoxIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for name, size := range map[string]int{"4 MB": 4 << 20, "8 MB": 8 << 20} {
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
	n.CreateReadyBox(framework.NewBox("web")) // the server continues to serve
}
