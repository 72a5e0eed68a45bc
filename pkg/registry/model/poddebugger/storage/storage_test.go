// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
)

var _ rest.StandardStorage = &REST{}

func newStorage(t testing.TB) (*registrytest.Backend, *Storage) {
	t.Helper()
	backend := registrytest.NewBackend(t, model.Resource("poddebuggers"), &model.PodDebugger{})
	storage, err := NewStorage(backend.Scheme, backend.Options)
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Await(t, storage.PodDebugger.Store)
	return backend, storage
}

// tools returns a valid PodDebugger.
func tools() *model.PodDebugger {
	return &model.PodDebugger{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "tools"},
		Spec: model.PodDebuggerSpec{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, Image: "busybox:1.37",
			Profile: model.DebugProfileGeneral, MaxPods: ptr.To[int32](10), WhenDeleted: model.PodDebuggerRetain,
		},
	}
}

// tester has the suites that every registry of Kubernetes passes.
func tester(t *testing.T) *genericregistrytest.Tester {
	_, storage := newStorage(t)
	return genericregistrytest.New(t, storage.PodDebugger.Store)
}

func TestCreate(t *testing.T) {
	tester := tester(t)
	debugger := func(change func(*model.PodDebugger)) *model.PodDebugger {
		debugger := tools()
		debugger.Namespace = tester.TestNamespace()
		change(debugger)
		return debugger
	}
	tester.TestCreate(
		debugger(func(debugger *model.PodDebugger) { debugger.ObjectMeta = metav1.ObjectMeta{} }),
		debugger(func(debugger *model.PodDebugger) { debugger.Name = "Not_A_Name" }),
		debugger(func(debugger *model.PodDebugger) { debugger.Spec.Selector = metav1.LabelSelector{} }),
	)
}

func TestUpdate(t *testing.T) {
	update := func(change func(*model.PodDebugger)) func(runtime.Object) runtime.Object {
		return func(object runtime.Object) runtime.Object {
			change(object.(*model.PodDebugger))
			return object
		}
	}
	tester(t).TestUpdate(tools(),
		update(func(debugger *model.PodDebugger) { debugger.Spec.MaxPods = ptr.To[int32](20) }),
		update(func(debugger *model.PodDebugger) { debugger.Spec.Image = "busybox:1.36" }),
	)
}

func TestGet(t *testing.T) { tester(t).TestGet(tools()) }

func TestList(t *testing.T) { tester(t).TestList(tools()) }

func TestDelete(t *testing.T) { tester(t).TestDelete(tools()) }

func TestNames(t *testing.T) {
	_, storage := newStorage(t)
	if got := storage.PodDebugger.ShortNames(); !slices.Equal(got, []string{"pdbg"}) {
		t.Errorf("short names: %q", got)
	}
	if got := storage.PodDebugger.GetSingularName(); got != "poddebugger" {
		t.Errorf("singular: %q", got)
	}
}

// recorder keeps the warnings of a request.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

func TestDeletionTellsWhichPodsHaveTheContainer(t *testing.T) {
	for _, row := range []struct {
		name       string
		finalizers []string
		dryRun     []string
		isGone     bool
	}{
		{"one that goes at once", nil, nil, true},
		{"one that waits", []string{"model.github.com/restart-boxes"}, nil, false},
		{"one that is not deleted", nil, []string{metav1.DryRunAll}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			backend, storage := newStorage(t)
			ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
			debugger := tools()
			debugger.Finalizers = row.finalizers
			created, err := storage.PodDebugger.Create(ctx, debugger, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := backend.Etcd.Get(t.Context(), "/registry/model.github.com/poddebuggers/default/tools")
			if err != nil {
				t.Fatal(err)
			}
			if len(stored.Kvs) != 1 || !strings.HasPrefix(string(stored.Kvs[0].Value), "k8s\x00") {
				t.Errorf("stored is %v", stored.Kvs)
			}
			observed := created.(*model.PodDebugger).DeepCopy()
			observed.Status = model.PodDebuggerStatus{ContainerName: "tools-x", Pods: []model.PodDebuggerPod{
				{Name: "a", State: &corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}}
			if _, _, err := storage.Status.Update(ctx, "tools", rest.DefaultUpdatedObjectInfo(observed),
				rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}

			var warnings recorder
			if _, _, err := storage.PodDebugger.Delete(warning.WithWarningRecorder(ctx, &warnings), "tools", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{DryRun: row.dryRun}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recorder{warn.ContainerStays("tools-x", "a")}, warnings); diff != "" {
				t.Errorf("warnings, -want +got:\n%s", diff)
			}
			if _, err := storage.PodDebugger.Get(ctx, "tools", &metav1.GetOptions{}); apierrors.IsNotFound(err) != row.isGone {
				t.Errorf("after the deletion: %v", err)
			}
		})
	}
	_, storage := newStorage(t)
	var warnings recorder
	ctx := warning.WithWarningRecorder(genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault), &warnings)
	if _, _, err := storage.PodDebugger.Delete(ctx, "none", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); !apierrors.IsNotFound(err) || len(warnings) > 0 {
		t.Errorf("one that there is not: %v, and warnings %q", err, warnings)
	}
}
