// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

const (
	// ephemeralContainers is the subresource of pods that is patched.
	ephemeralContainers = "ephemeralcontainers"
	// debugFieldManager is the field manager of requests without one.
	debugFieldManager = "modelbox-debug"
	// podsAtOnce is how many pods the cluster is asked about at the same time for one request.
	podsAtOnce = 10
)

// DebugREST is the debug subresource. It adds an ephemeral container to pods of a box, like "kubectl debug".
//
// A pod is patched with the permissions of the server, for a user who has the right to patch pods/ephemeralcontainers of that
// very pod.
type DebugREST struct {
	store       *genericregistry.Store
	children    modelbox.ChildReader
	access      modelbox.PodAccess
	permissions permissions
	recorder    events.EventRecorder
}

var _ rest.NamedCreater = &DebugREST{}

// New returns an empty ModelBoxDebug.
func (*DebugREST) New() runtime.Object { return &model.ModelBoxDebug{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*DebugREST) Destroy() {}

// Create adds the container to the pods of the box with the name. For one pod, it returns a refusal unchanged. For all pods, the
// response has the refusal of each pod.
func (r *DebugREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	debug, ok := obj.(*model.ModelBoxDebug)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a ModelBoxDebug, got %T", obj))
	}
	if debug.Name != "" && debug.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", debug.Name, name))
	}
	debug.Name, debug.Status = name, model.ModelBoxDebugStatus{}
	if errs := validation.ValidateModelBoxDebug(ctx, debug); len(errs) > 0 {
		return nil, apierrors.NewInvalid(model.Kind("ModelBoxDebug"), name, errs)
	}
	if err := subresource.Validate(ctx, debug, createValidation); err != nil {
		return nil, err
	}
	found, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	box := found.(*model.ModelBox)
	additions, err := r.additions(ctx, box, debug)
	if err != nil {
		return nil, err
	}
	r.add(ctx, additions, metav1.PatchOptions{DryRun: options.DryRun, FieldManager: cmp.Or(options.FieldManager, debugFieldManager)})
	if !debug.AllPods && additions[0].err != nil {
		return nil, additions[0].err
	}
	if !dryrun.IsDryRun(options.DryRun) {
		r.record(ctx, box, additions)
	}
	answer := debug.DeepCopy()
	answer.ObjectMeta = subresource.AnswerMeta(box)
	for i := range additions {
		answer.Status.Pods = append(answer.Status.Pods, additions[i].status())
	}
	return answer, nil
}

// addition is a container that is to be added to a pod.
type addition struct {
	pod       *corev1.Pod
	container *corev1.EphemeralContainer
	// err is why it has not been added.
	err error
}

// additions returns what is to be added for the request, to one pod at least. Where that is not possible, or the user may not,
// it has the error already.
func (r *DebugREST) additions(ctx context.Context, box *model.ModelBox, debug *model.ModelBoxDebug) ([]addition, error) {
	served, err := asServed(box)
	if err != nil {
		return nil, err
	}
	if err := r.access.CheckAllowed(ctx, served.Namespace, "patch", ephemeralContainers); err != nil {
		return nil, err
	}
	all, err := modelbox.ReadCluster(ctx, func(ctx context.Context) ([]corev1.Pod, error) { return r.children.Pods(ctx, served) })
	if err != nil {
		return nil, err
	}
	pods, err := modelbox.SelectDebugPods(served, all, debug)
	if err != nil {
		return nil, err
	}
	containerName := cmp.Or(debug.ContainerName, debugcontainer.GenerateName(pods...))
	additions := make([]addition, len(pods))
	for i, pod := range pods {
		additions[i].pod = pod
	}
	forEach(ctx, additions, func(i int) error {
		if err := r.permissions.checkPod(ctx, "patch", pods[i].Name, ephemeralContainers); err != nil {
			return err
		}
		container, err := modelbox.NewDebugContainer(served, pods[i], debug, containerName)
		additions[i].container = container
		return err
	})
	recordDebug(ctx, served, containerName, additions)
	return additions, nil
}

// add adds what has no error, and notes the errors that there are then.
func (r *DebugREST) add(ctx context.Context, additions []addition, options metav1.PatchOptions) {
	forEach(ctx, additions, func(i int) error {
		if additions[i].err != nil {
			return additions[i].err
		}
		err := r.access.AddEphemeralContainer(ctx, additions[i].pod, additions[i].container, options)
		if status := apierrors.APIStatus(nil); err != nil && !errors.As(err, &status) {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("asking the cluster: %v", err))
		}
		return err
	})
}

// forEach does something for all additions, several at a time, and notes the errors. There is one for each that is not done
// because the request has ended before.
func forEach(ctx context.Context, additions []addition, do func(i int) error) {
	done := make([]bool, len(additions))
	workqueue.ParallelizeUntil(ctx, podsAtOnce, len(additions), func(i int) {
		additions[i].err, done[i] = do(i), true
	})
	for i := range additions {
		if !done[i] {
			additions[i].err = apierrors.NewTimeoutError("the request ended before the container was added", 0)
		}
	}
}

// recordDebug records which pods the user of the request is led to.
func recordDebug(ctx context.Context, box *modelv1.ModelBox, container string, additions []addition) {
	var pods []string
	for i := range additions {
		if additions[i].err == nil {
			pods = append(pods, additions[i].pod.Name)
		}
	}
	if len(pods) > 0 {
		recordPodAccess(ctx, box, "debug", strings.Join(pods, ","), container)
	}
}

// record records about the box what has been added.
func (r *DebugREST) record(ctx context.Context, box *model.ModelBox, additions []addition) {
	var added []*addition
	for i := range additions {
		if additions[i].err == nil {
			added = append(added, &additions[i])
		}
	}
	if len(added) == 0 {
		return
	}
	where := "pod " + added[0].pod.Name
	if len(added) > 1 {
		where = fmt.Sprintf("%d pods", len(added))
	}
	recordEvent(ctx, r.recorder, box, "Debugged", "Debug", "User %q added the ephemeral container "+added[0].container.Name+" to "+where)
}

func (a *addition) status() model.ModelBoxDebugPod {
	if a.err != nil {
		return model.ModelBoxDebugPod{Name: a.pod.Name, Reason: apierrors.ReasonForError(a.err), Message: a.err.Error()}
	}
	return model.ModelBoxDebugPod{Name: a.pod.Name, ContainerName: a.container.Name, TargetContainer: a.container.TargetContainerName}
}
