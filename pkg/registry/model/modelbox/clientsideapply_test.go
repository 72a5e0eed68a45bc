// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// manifest is a box with ports as a user writes it, and as kubectl apply sends it.
func manifest(t *testing.T, ports []corev1.ServicePort) []byte {
	t.Helper()
	var written []map[string]any
	for _, port := range ports {
		fields := map[string]any{"port": port.Port, "protocol": port.Protocol}
		if port.TargetPort.IntVal != 0 {
			fields["targetPort"] = port.TargetPort
		}
		written = append(written, fields)
	}
	metadata := map[string]any{"name": "web", "namespace": "default"}
	box := map[string]any{
		"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": metadata,
		"spec": map[string]any{"image": "nginx:1.7.9", "ports": written},
	}
	metadata["annotations"] = map[string]string{corev1.LastAppliedConfigAnnotation: string(asJSON(t, box))}
	return asJSON(t, box)
}

func asJSON(t *testing.T, object any) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decodeBox returns the box as the server has it, defaulted.
func decodeBox(t *testing.T, data []byte) (*modelv1.ModelBox, *model.ModelBox) {
	t.Helper()
	served, box := &modelv1.ModelBox{}, &model.ModelBox{}
	if err := json.Unmarshal(data, served); err != nil {
		t.Fatal(err)
	}
	scheme.Default(served)
	if err := scheme.Convert(served, box, nil); err != nil {
		t.Fatal(err)
	}
	return served, box
}

// applyClientSide applies one list of ports after the other, as kubectl and the server do it together, and adds the ports of
// another client in between. It returns the box before and after the second time, or the error of kubectl.
func applyClientSide(t *testing.T, first, others, second []corev1.ServicePort) (old, box *model.ModelBox, err error) {
	t.Helper()
	original, modified := manifest(t, first), manifest(t, second)
	live, _ := decodeBox(t, original)
	live.ResourceVersion, live.Spec.Ports = "7", append(live.Spec.Ports, others...)
	live, old = decodeBox(t, asJSON(t, live))
	current := asJSON(t, live)
	schema, err := strategicpatch.NewPatchMetaFromStruct(modelv1.ModelBox{})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, schema, true)
	if err != nil {
		return nil, nil, err
	}
	patched, err := strategicpatch.StrategicMergePatch(current, patch, modelv1.ModelBox{})
	if err != nil {
		return nil, nil, err
	}
	_, box = decodeBox(t, patched)
	return old, box, nil
}

func servicePort(port int32, protocol corev1.Protocol, targetPort int32) corev1.ServicePort {
	result := corev1.ServicePort{Port: port, Protocol: protocol}
	if targetPort != 0 {
		result.TargetPort = intstr.FromInt32(targetPort)
	}
	return result
}

// numbersOf returns the ports without their names, which a port keeps once it has one.
func numbersOf(ports []corev1.ServicePort) map[string]string {
	numbers := map[string]string{}
	for _, port := range ports {
		numbers[fmt.Sprintf("%d/%s", port.Port, port.Protocol)] = port.TargetPort.String()
	}
	return numbers
}

func indexOfPort(ports []corev1.ServicePort, port corev1.ServicePort) int {
	return slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Port == port.Port && p.Protocol == port.Protocol })
}

// Whatever was there before, client-side apply makes what is applied or is refused.
func TestClientSideApplyOfPorts(t *testing.T) {
	var lists [][]corev1.ServicePort
	targets := []int32{0, 1053, 1054}
	for _, target := range targets {
		udp, tcp, other := servicePort(53, "UDP", target), servicePort(53, "TCP", target), servicePort(80, "TCP", target)
		lists = append(lists, []corev1.ServicePort{udp}, []corev1.ServicePort{tcp}, []corev1.ServicePort{other, tcp})
		for _, target := range targets {
			tcp := servicePort(53, "TCP", target)
			lists = append(lists, []corev1.ServicePort{udp, tcp}, []corev1.ServicePort{tcp, udp})
		}
	}
	lists = append(lists, []corev1.ServicePort{servicePort(53, "TCP", 0), servicePort(80, "TCP", 0), servicePort(53, "UDP", 0)})

	accepted, refused := 0, 0
	check := func(first, others, second []corev1.ServicePort) {
		old, box, err := applyClientSide(t, first, others, second)
		if err != nil {
			return
		}
		want := slices.Clone(second)
		for _, port := range others {
			switch i := indexOfPort(want, port); {
			case i < 0:
				want = append(want, port)
			case want[i].TargetPort.IntVal == 0: // stays who set it
				want[i].TargetPort = port.TargetPort
			}
		}
		_, wanted := decodeBox(t, manifest(t, want))
		diff := cmp.Diff(numbersOf(wanted.Spec.Ports), numbersOf(box.Spec.Ports))
		errs := validateClientSideApply(box, old)
		switch {
		case len(errs) == 0 && diff != "":
			t.Errorf("%v after %v and %v is accepted and makes something else, -want +got:\n%s", second, first, others, diff)
		case len(errs) > 0 && diff == "":
			t.Errorf("%v after %v and %v is refused although it makes what is applied: %v", second, first, others, errs.ToAggregate())
		case len(errs) > 0:
			refused++
		default:
			accepted++
		}
	}
	for _, first := range lists {
		for _, second := range lists {
			check(first, nil, second)
			if others := servicePort(53, "UDP", 2000); indexOfPort(first, others) < 0 {
				check(first, []corev1.ServicePort{others}, second)
			}
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d applies are accepted and %d refused", accepted, refused)
	}
}

func TestUpdateThatIsNotWhatWasApplied(t *testing.T) {
	both := []corev1.ServicePort{servicePort(53, "UDP", 1053), servicePort(53, "TCP", 1053)}
	old, box, err := applyClientSide(t, both, nil, []corev1.ServicePort{servicePort(53, "UDP", 1054), servicePort(53, "TCP", 1055)})
	if err != nil {
		t.Fatal(err)
	}
	const want = `spec.ports: Forbidden: client-side apply cannot distinguish the ports with number 53, and the result would differ from what you apply: use kubectl apply --server-side`
	if errs := newStrategy().ValidateUpdate(t.Context(), box, old); len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs.ToAggregate(), want)
	}
	for _, row := range []struct {
		name   string
		change func(*model.ModelBox)
	}{
		{"a patch", func(box *model.ModelBox) { box.Annotations = old.Annotations }},
		{"a replacement", func(box *model.ModelBox) { box.Annotations = nil }},
		{"server-side apply", func(box *model.ModelBox) {
			box.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
		}},
	} {
		other := box.DeepCopy()
		row.change(other)
		if errs := validateClientSideApply(other, old); len(errs) > 0 {
			t.Errorf("%s: %v", row.name, errs.ToAggregate())
		}
	}
}
