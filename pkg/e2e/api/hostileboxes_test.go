// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const maxResponseBytes = 64 << 10

// TestHostileBoxesGetBoundedResponses sends boxes that are invalid for as many and as long reasons as possible.
func TestHostileBoxesGetBoundedResponses(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct {
		name  string
		spec  func(*modelv1.ModelBoxSpec)
		field string
	}{
		{"devices that are mounted", devicesThatAreMounted(1000), "volumeDevices"},
		{"fewer devices that are mounted", devicesThatAreMounted(250), "volumeMounts"},
		{"a long name of a variable", func(spec *modelv1.ModelBoxSpec) {
			for range 20 {
				spec.Envs = append(spec.Envs, corev1.EnvVar{Name: strings.Repeat("\x01", 2<<10)})
			}
		}, "spec.envs[0].name"},
		{"long keys of labels", func(spec *modelv1.ModelBoxSpec) {
			spec.Labels = map[string]string{}
			for i := range 50 {
				spec.Labels[fmt.Sprint(strings.Repeat(`"`, 1<<10), i)] = strings.Repeat(`"`, 1<<9)
			}
		}, "spec.labels"},
		{"a directive in the overlay", func(spec *modelv1.ModelBoxSpec) {
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"$patch": "replace"}}}
		}, "spec.podTemplate.spec.nodeSelector[$patch]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			box := framework.NewBox("hostile", test.spec)
			box.APIVersion, box.Kind = modelv1.SchemeGroupVersion.String(), "ModelBox"
			data, err := json.Marshal(box)
			if err != nil {
				t.Fatal(err)
			}
			before := residentMemory(n)
			response, err := n.ControlPlane.ModelClient.ModelV1().RESTClient().Post().Namespace(n.Name).Resource("modelboxes").
				SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").
				Param("dryRun", metav1.DryRunAll).Body(data).DoRaw(n.Ctx)
			if err == nil || !strings.Contains(string(response), test.field) {
				t.Errorf("want a refusal that names %s, got %v: %.300s", test.field, err, response)
			}
			if len(response) > maxResponseBytes {
				t.Errorf("the response to %d bytes is %d bytes", len(data), len(response))
			}
			t.Logf("%d bytes are answered with %d; resident memory of the server before: %s, after: %s", len(data), len(response), before, residentMemory(n))
		})
	}
}

func devicesThatAreMounted(count int) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		container := corev1.Container{Name: "side", Image: "side:1"}
		for range count {
			container.VolumeDevices = append(container.VolumeDevices, corev1.VolumeDevice{Name: "data", DevicePath: "/data"})
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/data"})
		}
		spec.Containers = []corev1.Container{container}
	}
}

// residentMemory returns the resident memory of the process of the server.
func residentMemory(n *framework.Namespace) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.ControlPlane.ServerPID(n.T)))
	if err != nil {
		n.T.Fatal(err)
	}
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	resident, _, _ = strings.Cut(resident, "\n")
	return strings.TrimSpace(resident)
}
