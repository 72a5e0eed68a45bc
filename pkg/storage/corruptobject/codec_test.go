// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func testCodec(example runtime.Object, tracker *Tracker) *codec {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	delegate := serializer.NewCodecFactory(scheme).LegacyCodec(modelv1.SchemeGroupVersion)
	return &codec{Codec: delegate, resource: model.Resource("tests"), objectType: reflect.TypeOf(example), tracker: tracker}
}

// storedObject returns the stored encoding of an object.
func storedObject(t *testing.T, kind string, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(stored(t, runtime.TypeMeta{APIVersion: "model.github.com/v1", Kind: kind}, raw))
}

// An object counts as corrupt if it can be decoded, but not encoded as JSON.
func TestObjectsWithoutAJSONFormAreCorrupt(t *testing.T) {
	impossible := intstr.IntOrString{Type: 51}
	for _, row := range []struct {
		name string
		spec modelv1.ModelBoxSpec
		// boxReason and stackReason are the reasons why the box, or a stack with the box, is corrupt; empty if it is not.
		boxReason, stackReason string
	}{
		{"a box with a JSON form", modelv1.ModelBoxSpec{RollingUpdate: modelv1.NewRollingUpdate(intstr.FromString("30%"))}, "", ""},
		{
			"a rolling update", modelv1.ModelBoxSpec{RollingUpdate: &modelv1.RollingUpdate{Type: 51, StrVal: "30%"}},
			"spec.rollingUpdate: its type is 51, but must be between 0 and 2",
			"spec.components[0].box.rollingUpdate: its type is 51, but must be between 0 and 2",
		},
		{
			"a limit of a rolling update", modelv1.ModelBoxSpec{RollingUpdate: &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: &impossible}},
			"spec.rollingUpdate.maxSurge: its type is 51, but must be between 0 and 1",
			"spec.components[0].box.rollingUpdate.maxSurge: its type is 51, but must be between 0 and 1",
		},
		{
			"a disruption budget", modelv1.ModelBoxSpec{DisruptionBudget: &modelv1.ModelBoxDisruptionBudget{MaxUnavailable: &impossible}},
			"spec.disruptionBudget.maxUnavailable: its type is 51, but must be between 0 and 1",
			"spec.components[0].box.disruptionBudget.maxUnavailable: its type is 51, but must be between 0 and 1",
		},
		{
			"a port", modelv1.ModelBoxSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.IntOrString{Type: -1}}}},
			"spec.ports[0].targetPort: its type is -1, but must be between 0 and 1",
			"spec.components[0].box.ports[0].targetPort: its type is -1, but must be between 0 and 1",
		},
		{
			"a probe", modelv1.ModelBoxSpec{Containers: []corev1.Container{{LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: impossible}}}}}},
			"spec.containers[0].livenessProbe.tcpSocket.port: its type is 51, but must be between 0 and 1",
			"spec.components[0].box.containers[0].livenessProbe.tcpSocket.port: its type is 51, but must be between 0 and 1",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			meta := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
			box := &modelv1.ModelBox{ObjectMeta: meta, Spec: row.spec}
			expectReason(t, &model.ModelBox{}, storedObject(t, "ModelBox", box), row.boxReason)
			stack := &modelv1.ModelStack{ObjectMeta: meta, Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{{Name: "web", Box: &row.spec}}}}
			expectReason(t, &model.ModelStack{}, storedObject(t, "ModelStack", stack), row.stackReason)
		})
	}
}

// expectReason decodes the stored object shop/web, and expects the reason why it is corrupt, empty if it is not.
func expectReason(t *testing.T, example runtime.Object, stored []byte, want string) {
	t.Helper()
	tracker := &Tracker{}
	codec := testCodec(example, tracker)
	got := ""
	if _, _, err := codec.Decode(stored, nil, nil); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("a read of one object returns the error %q, want %q", got, want)
	}
	object, _, err := codec.Decode(envelop([]byte("/registry/tests/shop/web"), "", stored), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := isPlaceholder(object); got != (want != "") {
		t.Errorf("a tolerant read returns a placeholder: %t", got)
	}
	var wantCorrupt []Object
	if want != "" {
		wantCorrupt = []Object{{model.Resource("tests"), "shop", "web", want}}
	}
	if diff := cmp.Diff(wantCorrupt, tracker.Objects(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("corrupt objects, -want +got:\n%s", diff)
	}
}
