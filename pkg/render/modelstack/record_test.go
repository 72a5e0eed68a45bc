// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// recordedStack has everything that a record has, and what none has.
func recordedStack(changes ...func(*modelv1.ModelStack)) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{
		ObjectMeta: metav1.ObjectMeta{
			Name: "data-service", Namespace: "shop", UID: "stack-uid", Generation: 7,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			ResourceVersion:   "42",
			Labels:            map[string]string{"team": "checkout"},
			Annotations:       map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "note": "keep"},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "1"}},
			Finalizers:        []string{modelv1.OrderedDeletionFinalizer},
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
			{Name: "db", Box: &modelv1.ModelBoxSpec{Image: "mysql:8"}},
			{Name: "mail", External: &modelv1.ModelStackExternal{Host: "mail.example.com", Port: 25}},
		}},
		Status: modelv1.ModelStackStatus{ReadyComponents: 2},
	}
	modelv1.SetObjectDefaults_ModelStack(stack)
	for _, change := range changes {
		change(stack)
	}
	return stack
}

// recordOf is the record of the stack as the cluster has it.
func recordOf(t *testing.T, stack *modelv1.ModelStack) *appsv1.ControllerRevision {
	t.Helper()
	rendered, err := Record(stack)
	if err != nil {
		t.Fatal(err)
	}
	revision := &appsv1.ControllerRevision{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, revision); err != nil {
		t.Fatal(err)
	}
	return revision
}

func readRecord(t *testing.T, revision *appsv1.ControllerRevision) *modelv1.ModelStack {
	t.Helper()
	stack, err := ReadRecord(revision)
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

func TestRecordIsTheStackWithoutWhatItsStoreKnows(t *testing.T) {
	want := recordedStack()
	revision := recordOf(t, want)
	want.ResourceVersion, want.ManagedFields, want.Status = "", nil, modelv1.ModelStackStatus{}
	if diff := cmp.Diff(want, readRecord(t, revision)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if revision.Revision != 7 {
		t.Errorf("it is revision %d, want the generation of the stack", revision.Revision)
	}
	if owner := ControllingStack(revision); owner == nil || owner.UID != want.UID || *owner.BlockOwnerDeletion {
		t.Errorf("its controller is %v", owner)
	}
}

// The data of a ControllerRevision cannot be changed.
func TestRecordHasAnotherNameWhenItSaysSomethingElse(t *testing.T) {
	name := recordOf(t, recordedStack()).Name
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelStack)
		isSame bool
	}{
		{"the same stack", func(*modelv1.ModelStack) {}, true},
		{"another status", func(stack *modelv1.ModelStack) { stack.Status.ReadyComponents = 1 }, true},
		{"another resourceVersion and manager", func(stack *modelv1.ModelStack) { stack.ResourceVersion, stack.ManagedFields = "43", nil }, true},
		{"another spec", func(stack *modelv1.ModelStack) { stack.Spec.Paused = true }, false},
		{"another generation", func(stack *modelv1.ModelStack) { stack.Generation++ }, false},
		{"another label", func(stack *modelv1.ModelStack) { stack.Labels = nil }, false},
		{"another UID", func(stack *modelv1.ModelStack) { stack.UID = "other" }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := recordOf(t, recordedStack(row.change)).Name; (got == name) != row.isSame {
				t.Errorf("it is called %s, and was %s", got, name)
			}
		})
	}
	// A StatefulSet or DaemonSet of any name has revisions whose names end in "-" and letters and digits.
	if hash := name[strings.LastIndexByte(name, '-')+1:]; !strings.Contains(hash, ".") {
		t.Errorf("it is called %s, as a revision of a StatefulSet may be", name)
	}
}

func TestRecordOfTheLargestStackFits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(size int) string {
		bytes := make([]byte, size)
		for i := range bytes {
			bytes[i] = byte(' ' + random.IntN(95))
		}
		return string(bytes)
	}
	stack := recordedStack(func(stack *modelv1.ModelStack) {
		stack.Spec.Components[0].Box.Args = []string{noise(511 << 10)}
		stack.Annotations["large"] = noise(250 << 10)
	})
	revision := recordOf(t, stack)
	if size := revision.Size(); size > 1200<<10 {
		t.Errorf("it has %d bytes, too many for a request to etcd", size)
	}
	read := readRecord(t, revision)
	if diff := cmp.Diff(stack.Spec, read.Spec); diff != "" {
		t.Error("the spec is another one")
	}
	if diff := cmp.Diff(stack.Annotations, read.Annotations); diff != "" {
		t.Error("the annotations are others")
	}
}

func TestReadRecordRefusesWhatIsNone(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":          "",
		"no JSON":          "record",
		"no record":        "{}",
		"another revision": `{"spec":{"template":{}}}`,
		"half a record":    `{"record":"AR+LCAAA"}`,
	} {
		t.Run(name, func(t *testing.T) {
			revision := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(data)}}
			if stack, err := ReadRecord(revision); err == nil {
				t.Errorf("it was read as %v", stack)
			}
		})
	}
}

func BenchmarkRecord(b *testing.B) {
	stack := recordedStack(func(stack *modelv1.ModelStack) {
		for range 300 {
			stack.Spec.Components = append(stack.Spec.Components, stack.Spec.Components[0])
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Record(stack); err != nil {
			b.Fatal(err)
		}
	}
}
