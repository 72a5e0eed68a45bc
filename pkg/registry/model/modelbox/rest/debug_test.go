// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// AddEphemeralContainer notes what is to be added, and refuses it as the test says.
func (a *testAccess) AddEphemeralContainer(_ context.Context, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refused[pod.Name]; err != nil {
		return err
	}
	text := pod.Name + " " + container.Name + " " + container.Image + " " + container.TargetContainerName + " " + options.FieldManager
	a.asked = append(a.asked, strings.Join(append([]string{text}, options.DryRun...), " "))
	return nil
}

var podSecurityRefusal = apierrors.NewForbidden(corev1.Resource("pods"), "web-1", errors.New(`violates PodSecurity "restricted:latest": privileged`))

func TestDebug(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	away := errors.New("it is unavailable")
	may := func(pods ...string) rights {
		var all rights
		for _, pod := range pods {
			all = append(all, "patch pods/ephemeralcontainers "+pod)
		}
		return all
	}
	named := model.ModelBoxDebug{Image: "busybox", ContainerName: "debugger"}
	of := func(change func(*model.ModelBoxDebug)) model.ModelBoxDebug {
		debug := named
		change(&debug)
		return debug
	}
	all := of(func(debug *model.ModelBoxDebug) { debug.AllPods = true })
	debugged := func(pod string) model.ModelBoxDebugPod {
		return model.ModelBoxDebugPod{Name: pod, ContainerName: "debugger", TargetContainer: "web"}
	}
	for _, row := range []struct {
		name       string
		authorizer authorizer.UnconditionalAuthorizer
		cluster    *testCluster
		// refused are the pods that the cluster refuses the container for, and component the answer of the server's own rights.
		refused   map[string]error
		component error
		debug     model.ModelBoxDebug
		options   metav1.CreateOptions
		wantAsked []string
		wantPods  []model.ModelBoxDebugPod
		wantEvent string
		// wantErr is a part of the refusal, and wantCode its code.
		wantErr  string
		wantCode int32
	}{
		{
			name: "a pod of the box, and its main container as the target", authorizer: may("web-1"), cluster: podsOf("web-2", "web-1"), debug: named,
			wantAsked: []string{"web-1 debugger busybox web modelbox-debug"}, wantPods: []model.ModelBoxDebugPod{debugged("web-1")},
			wantEvent: `Normal Debugged User "anna" added the ephemeral container debugger to pod web-1`,
		},
		{
			name: "the pod and the target that are named, with a field manager", authorizer: may("web-2"), cluster: podsOf("web-1", "web-2"),
			debug: of(func(debug *model.ModelBoxDebug) { debug.Pod, debug.TargetContainer = "web-2", "injected" }), options: metav1.CreateOptions{FieldManager: "anna's"},
			wantAsked: []string{"web-2 debugger busybox injected anna's"},
			wantPods:  []model.ModelBoxDebugPod{{Name: "web-2", ContainerName: "debugger", TargetContainer: "injected"}},
			wantEvent: `Normal Debugged User "anna" added the ephemeral container debugger to pod web-2`,
		},
		{
			name: "a dry run", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: named, options: metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}},
			wantAsked: []string{"web-1 debugger busybox web modelbox-debug All"}, wantPods: []model.ModelBoxDebugPod{debugged("web-1")},
		},
		{
			name: "all pods, as far as the user may and the cluster does", authorizer: may("web-1", "web-2", "web-3"), cluster: podsOf("web-4", "web-3", "web-2", "web-1"), debug: all,
			refused:   map[string]error{"web-1": podSecurityRefusal, "web-2": away},
			wantAsked: []string{"web-3 debugger busybox web modelbox-debug"},
			wantPods: []model.ModelBoxDebugPod{
				{Name: "web-1", Reason: metav1.StatusReasonForbidden, Message: `pods "web-1" is forbidden: violates PodSecurity "restricted:latest": privileged`},
				{Name: "web-2", Reason: metav1.StatusReasonServiceUnavailable, Message: "asking the cluster: it is unavailable"},
				debugged("web-3"),
				{Name: "web-4", Reason: metav1.StatusReasonForbidden, Message: `pods "web-4" is forbidden: User "anna" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "default"`},
			},
			wantEvent: `Normal Debugged User "anna" added the ephemeral container debugger to pod web-3`,
		},
		{
			name: "several pods are counted in the event", authorizer: may("web-1", "web-2"), cluster: podsOf("web-1", "web-2"), debug: all,
			wantAsked: []string{"web-1 debugger busybox web modelbox-debug", "web-2 debugger busybox web modelbox-debug"},
			wantPods:  []model.ModelBoxDebugPod{debugged("web-1"), debugged("web-2")},
			wantEvent: `Normal Debugged User "anna" added the ephemeral container debugger to 2 pods`,
		},
		{
			name: "who has no right on the pod", authorizer: may("web-2"), cluster: podsOf("web-1"), debug: named,
			wantErr: `pods "web-1" is forbidden: User "anna" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "default"`, wantCode: http.StatusForbidden,
		},
		{
			name: "a refusal of the cluster is the answer, word by word", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: named,
			refused: map[string]error{"web-1": podSecurityRefusal}, wantErr: podSecurityRefusal.Error(), wantCode: http.StatusForbidden,
		},
		{
			name: "a cluster that does not answer the patch", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: named,
			refused: map[string]error{"web-1": away}, wantErr: "asking the cluster: it is unavailable", wantCode: http.StatusServiceUnavailable,
		},
		{
			name: "a server without the component", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: named,
			component: apierrors.NewForbidden(corev1.Resource("pods"), "", away), wantErr: "it is unavailable", wantCode: http.StatusForbidden,
		},
		{
			name: "a cluster that does not answer", authorizer: may("web-1"), cluster: &testCluster{err: away}, debug: named,
			wantErr: "it is unavailable", wantCode: http.StatusServiceUnavailable,
		},
		{
			name: "rights that cannot be asked for", authorizer: brokenAuthorizer{}, cluster: podsOf("web-1"), debug: named,
			wantErr: "it is unavailable", wantCode: http.StatusServiceUnavailable,
		},
		{
			name: "a box without pods", authorizer: may("web-1"), cluster: podsOf(), debug: named, wantErr: "it has no pods", wantCode: http.StatusConflict,
		},
		{
			name: "a pod of another box", authorizer: may("mail-1"), cluster: podsOf("web-1"), debug: of(func(debug *model.ModelBoxDebug) { debug.Pod = "mail-1" }),
			wantErr: `pods "mail-1" not found`, wantCode: http.StatusNotFound,
		},
		{
			name: "a request that is not valid", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: model.ModelBoxDebug{},
			wantErr: `ModelBoxDebug.model.github.com "web" is invalid: image: Required value`, wantCode: http.StatusUnprocessableEntity,
		},
		{
			name: "a request for another box", authorizer: may("web-1"), cluster: podsOf("web-1"), debug: of(func(debug *model.ModelBoxDebug) { debug.Name = "mail" }),
			wantErr: "does not match the name on the URL", wantCode: http.StatusBadRequest,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			access, recorder := &testAccess{err: row.component, refused: row.refused}, events.NewFakeRecorder(10)
			debug := &DebugREST{storage.ModelBox.Store, row.cluster, access, permissions{row.authorizer}, recorder}
			answer, err := debug.Create(asAnna(t), "web", row.debug.DeepCopy(), rest.ValidateAllObjectFunc, &row.options)
			if diff := cmp.Diff(row.wantAsked, access.asked, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("what is added (-want +got):\n%s", diff)
			}
			select {
			case event := <-recorder.Events:
				if event != row.wantEvent {
					t.Errorf("the event is %q, want %q", event, row.wantEvent)
				}
			default:
				if row.wantEvent != "" {
					t.Errorf("there is no event, want %q", row.wantEvent)
				}
			}
			if row.wantCode != 0 {
				var status apierrors.APIStatus
				if !errors.As(err, &status) || status.Status().Code != row.wantCode || !strings.Contains(err.Error(), row.wantErr) {
					t.Errorf("got %v, want %d and %q", err, row.wantCode, row.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := answer.(*model.ModelBoxDebug)
			if diff := cmp.Diff(row.wantPods, got.Status.Pods); diff != "" {
				t.Errorf("the pods of the answer (-want +got):\n%s", diff)
			}
			if got.Name != "web" || got.UID == "" || got.Image != "busybox" {
				t.Errorf("the answer is %+v", got)
			}
		})
	}
}

func TestDebugOfABoxThatIsNotThere(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	if _, err := storage.Debug.Create(asAnna(t), "none", &model.ModelBoxDebug{Image: "busybox"}, nil, &metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// TestDebugGeneratesOneName checks that the containers of all pods have the same name, so that other containers can be
// distinguished from them.
func TestDebugGeneratesOneName(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	debug := &DebugREST{storage.ModelBox.Store, podsOf("web-1", "web-2"), &testAccess{}, permissions{rights{"patch pods/ephemeralcontainers web-1", "patch pods/ephemeralcontainers web-2"}}, nil}
	answer, err := debug.Create(asAnna(t), "web", &model.ModelBoxDebug{Image: "busybox", AllPods: true}, nil, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := answer.(*model.ModelBoxDebug).Status.Pods
	if len(pods) != 2 || !strings.HasPrefix(pods[0].ContainerName, "debugger-") || pods[0].ContainerName != pods[1].ContainerName {
		t.Errorf("the pods are %+v", pods)
	}
}

// TestDebugEndsWithItsRequest answers for each pod, though there is no time to ask about any.
func TestDebugEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	additions := make([]addition, 3)
	forEach(ctx, additions, func(int) error { return nil })
	for i := range additions {
		if !apierrors.IsTimeout(additions[i].err) {
			t.Errorf("got %v", additions[i].err)
		}
	}
}
