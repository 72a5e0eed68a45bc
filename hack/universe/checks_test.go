// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestChecksFindBrokenPromises breaks each promise in a world without controllers. The test writes in place of a server.
func TestChecksFindBrokenPromises(t *testing.T) {
	servers, err := NewServers()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		promise string
		breakIt func(ctx context.Context, w *testWorld)
	}{
		{"claims that are retained are never deleted", func(ctx context.Context, w *testWorld) {
			w.createClaim(ctx, retainedStorage+"-a-0")
			w.asController(func() { w.must(w.claims().Delete(ctx, retainedStorage+"-a-0", metav1.DeleteOptions{})) })
		}},
		{"no write without a cause", func(ctx context.Context, w *testWorld) {
			w.checks.isQuiet = true
			w.asController(func() { w.createClaim(ctx, "claim") })
		}},
		{"no box is ready before its pods", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1", Replicas: ptr.To(int32(2))}))
			w.asController(func() { w.setReady(ctx, "a") })
		}},
		{"no component starts before what it depends on", func(ctx context.Context, w *testWorld) {
			w.createComponents(ctx)
		}},
		{"no component is deleted before those that depend on it", func(ctx context.Context, w *testWorld) {
			w.createComponents(ctx)
			foreground := metav1.DeletePropagationForeground
			w.must(w.users.stacks.Delete(ctx, stackName, metav1.DeleteOptions{PropagationPolicy: &foreground}))
			w.asController(func() { w.must(w.users.boxes.Delete(ctx, stackName+"-db", metav1.DeleteOptions{})) })
		}},
		{"no rollout takes capacity away", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1", Replicas: ptr.To(int32(2))}))
			w.setReady(ctx, "a")
			w.checks.afterMove()
		}},
		{"routes lead to enough pods", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1", Ports: []corev1.ServicePort{{Port: 80}}, Route: newRoute()}))
			w.createReadyPod(ctx, "a")
			w.setReady(ctx, "a")
			w.createService(ctx, "a")
			w.createRoute(ctx, "a", "a-canary")
			w.checks.afterMove()
		}},
		{"no candidate gets traffic before its step", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{
				Image: "good:1", Ports: []corev1.ServicePort{{Port: 80}}, Rollout: &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutBlueGreen)},
			}))
			w.setRollout(ctx, "a", modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To(int32(1))})
			w.createDeployment(ctx, "a", modelv1.RolledBackAnnotation)
			w.createReadyPod(ctx, "a", modelv1.CandidateLabel)
			w.createService(ctx, "a")
			w.selectPods(ctx, "a", map[string]string{modelv1.SelectorLabel: "a", appsv1.DefaultDeploymentUniqueLabelKey: "1"})
			w.asController(func() { w.selectPods(ctx, "a", map[string]string{modelv1.SelectorLabel: "a"}) })
		}},
		{"no rollout continues before its checks are met", func(ctx context.Context, w *testWorld) {
			w.applyBoxWithChecks(ctx)
			w.setRollout(ctx, "a", modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To(int32(1))})
			w.asController(func() {
				w.setRollout(ctx, "a", modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To(int32(2))})
			})
		}},
		{"no check fails without errors", func(ctx context.Context, w *testWorld) {
			w.applyBoxWithChecks(ctx)
			w.setRollout(ctx, "a", modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To(int32(1))})
			w.asController(func() {
				w.setRollout(ctx, "a", modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutFailed, Reason: modelv1.ReasonCheckFailed})
			})
		}},
		{"the status is of the present box", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			w.checks.settled(ctx)
		}},
		{"children are as their box says", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			w.checks.settled(ctx)
		}},
		{"a box that is ready has its pods", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			w.setReady(ctx, "a")
			w.checks.settled(ctx)
		}},
		{"a box that can be ready is ready", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			w.setCondition(ctx, "a", metav1.ConditionFalse)
			w.checks.settled(ctx)
		}},
		{"selected pods have the container of their PodDebugger", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyPodDebugger(ctx, modelv1.PodDebuggerSpec{
				Image: "debug:1", Selector: metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "a"}},
			}))
			debugger, err := w.users.podDebuggers.Get(ctx, podDebuggerName, metav1.GetOptions{})
			w.must(err)
			debugger.Status.ObservedGeneration = debugger.Generation
			_, err = w.users.podDebuggers.UpdateStatus(ctx, debugger, metav1.UpdateOptions{})
			w.must(err)
			w.createReadyPod(ctx, "a")
			w.checks.settled(ctx)
		}},
		{"boxes restart when their references change", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1", RestartOn: ptr.To(modelv1.RestartOnReferences)}))
			w.createReadyPod(ctx, "a")
			time.Sleep(time.Minute)
			w.must(w.users.setSettings(ctx))
			w.setReady(ctx, "a")
			w.checks.settled(ctx)
		}},
		{"every deletion ends", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			orphan := metav1.DeletePropagationOrphan
			w.must(w.users.boxes.Delete(ctx, "a", metav1.DeleteOptions{PropagationPolicy: &orphan}))
			w.checks.settled(ctx)
		}},
		{"no owner of a record is lost with the store", func(ctx context.Context, w *testWorld) {
			w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1"}))
			w.createDeployment(ctx, "a")
			w.modelBox.Restore(nil)
			w.checks.checkRecovery()
		}},
		{"nothing is left of a deleted box", func(ctx context.Context, w *testWorld) {
			w.createClaim(ctx, "claim", metav1.OwnerReference{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelBox", Name: "a", UID: "gone"})
			w.checks.settled(ctx)
		}},
	} {
		t.Run(tc.promise, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world, err := newWorld(t.Context(), servers, Plan{Servers: 1}, nil)
				if err != nil {
					t.Fatal(err)
				}
				w := &testWorld{world, t}
				if len(w.checks.violations) > 0 {
					t.Fatalf("violations in an empty world: %v", w.checks.violations)
				}
				tc.breakIt(t.Context(), w)
				if !slices.ContainsFunc(w.checks.violations, func(v Violation) bool { return v.Promise == tc.promise }) {
					t.Errorf("not found; violations: %v", w.checks.violations)
				}
			})
		})
	}
}

// testWorld is a world in which the test does what controllers do.
type testWorld struct {
	*world
	t *testing.T
}

func (w *testWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// asController makes writes count as writes of a server.
func (w *testWorld) asController(write func()) {
	w.checks.writer = serverPrefix + "1"
	write()
	w.checks.writer = ""
}

func (w *testWorld) setReady(ctx context.Context, name string) {
	w.setCondition(ctx, name, metav1.ConditionTrue)
}

// setCondition sets the condition Ready of the present generation of the box.
func (w *testWorld) setCondition(ctx context.Context, name string, status metav1.ConditionStatus) {
	box, err := w.users.boxes.Get(ctx, name, metav1.GetOptions{})
	w.must(err)
	box.Status.ObservedGeneration = box.Generation
	box.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionReady, Status: status, Reason: modelv1.ReasonReady, LastTransitionTime: metav1.Now()}}
	_, err = w.users.boxes.UpdateStatus(ctx, box, metav1.UpdateOptions{})
	w.must(err)
}

// setRollout sets the rollout of the present generation of the box.
func (w *testWorld) setRollout(ctx context.Context, name string, rollout modelv1.ModelBoxRolloutStatus) {
	box, err := w.users.boxes.Get(ctx, name, metav1.GetOptions{})
	w.must(err)
	box.Status.ObservedGeneration, box.Status.Rollout = box.Generation, &rollout
	_, err = w.users.boxes.UpdateStatus(ctx, box, metav1.UpdateOptions{})
	w.must(err)
}

// applyBoxWithChecks applies a box whose rollouts have a step with a check.
func (w *testWorld) applyBoxWithChecks(ctx context.Context) {
	w.must(w.users.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: "good:1", Rollout: &modelv1.ModelBoxRollout{
		Type: ptr.To(modelv1.RolloutBlueGreen), Checks: []modelv1.ModelBoxRolloutCheck{errorsCheck("30s", 1)},
	}}))
}

// createComponents creates a stack and its boxes, of which api depends on db.
func (w *testWorld) createComponents(ctx context.Context) {
	spec := &modelv1.ModelBoxSpec{Image: "good:1", Ports: []corev1.ServicePort{{Port: 80}}}
	components := []modelv1.ModelStackComponent{{Name: "db", Box: spec}, {Name: "api", Box: spec, DependsOn: []string{"db"}}}
	w.must(w.users.applyStack(ctx, modelv1.ModelStackSpec{Components: components}))
	stack, err := w.users.stacks.Get(ctx, stackName, metav1.GetOptions{})
	w.must(err)
	for _, component := range components {
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{
			Name:   stackName + "-" + component.Name,
			Labels: map[string]string{modelv1.StackLabel: stackName, modelv1.ComponentLabel: component.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelStack", Name: stackName, UID: stack.UID, Controller: ptr.To(true),
			}},
		}, Spec: *component.Box}
		if len(component.DependsOn) > 0 {
			box.Annotations = map[string]string{modelv1.DependsOnAnnotation: component.DependsOn[0]}
		}
		w.asController(func() {
			_, err := w.users.boxes.Create(ctx, box, metav1.CreateOptions{})
			w.must(err)
		})
	}
}

// createReadyPod creates a ready pod with these labels that belongs to the box of the name, which may not exist.
func (w *testWorld) createReadyPod(ctx context.Context, box string, labels ...string) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: box, Labels: map[string]string{modelv1.SelectorLabel: box}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "good:1"}}, NodeName: w.nodes.Names[0]},
	}
	for _, label := range labels {
		pod.Labels[label] = "true"
	}
	if box := w.checks.box(box); box != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(box, modelv1.SchemeGroupVersion.WithKind("ModelBox"))}
	}
	_, err := w.users.cluster.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	w.must(err)
	for range 2 { // It starts, and becomes ready.
		for _, step := range w.nodes.Steps() {
			w.must(step.Run(ctx))
		}
	}
}

// ownedBy returns the metadata of a child of the box that has its name.
func (w *testWorld) ownedBy(box string) metav1.ObjectMeta {
	owner := metav1.NewControllerRef(w.checks.box(box), modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	return metav1.ObjectMeta{Name: box, OwnerReferences: []metav1.OwnerReference{*owner}}
}

// createDeployment creates the Deployment of the box, with these annotations.
func (w *testWorld) createDeployment(ctx context.Context, box string, annotations ...string) {
	selected, meta := map[string]string{modelv1.SelectorLabel: box}, w.ownedBy(box)
	for _, annotation := range annotations {
		metav1.SetMetaDataAnnotation(&meta, annotation, "1")
	}
	_, err := w.users.cluster.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{Selector: metav1.SetAsLabelSelector(selected), Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selected},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "good:1"}}},
		}},
	}, metav1.CreateOptions{})
	w.must(err)
}

// createService creates the Service of the box.
func (w *testWorld) createService(ctx context.Context, box string) {
	_, err := w.users.cluster.CoreV1().Services(namespace).Create(ctx, &corev1.Service{
		ObjectMeta: w.ownedBy(box),
		Spec:       corev1.ServiceSpec{Selector: map[string]string{modelv1.SelectorLabel: box}, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	w.must(err)
}

// selectPods changes the selector of the Service of the box.
func (w *testWorld) selectPods(ctx context.Context, box string, selector map[string]string) {
	service, err := w.users.cluster.CoreV1().Services(namespace).Get(ctx, box, metav1.GetOptions{})
	w.must(err)
	service.Spec.Selector = selector
	_, err = w.users.cluster.CoreV1().Services(namespace).Update(ctx, service, metav1.UpdateOptions{})
	w.must(err)
}

// createRoute creates the HTTPRoute of the box, which gives half of the traffic to another Service.
func (w *testWorld) createRoute(ctx context.Context, box, other string) {
	var rule gatewayv1.HTTPRouteRule
	for _, service := range []string{box, other} {
		rule.BackendRefs = append(rule.BackendRefs, gatewayv1.HTTPBackendRef{BackendRef: gatewayv1.BackendRef{
			BackendObjectReference: gatewayv1.BackendObjectReference{Name: gatewayv1.ObjectName(service)}, Weight: ptr.To(int32(50)),
		}})
	}
	_, err := w.users.routes.Create(ctx, &gatewayv1.HTTPRoute{ObjectMeta: w.ownedBy(box), Spec: gatewayv1.HTTPRouteSpec{Rules: []gatewayv1.HTTPRouteRule{rule}}}, metav1.CreateOptions{})
	w.must(err)
}

func (w *testWorld) claims() interface {
	Create(context.Context, *corev1.PersistentVolumeClaim, metav1.CreateOptions) (*corev1.PersistentVolumeClaim, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
} {
	return w.users.cluster.CoreV1().PersistentVolumeClaims(namespace)
}

func (w *testWorld) createClaim(ctx context.Context, name string, owners ...metav1.OwnerReference) {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	_, err := w.claims().Create(ctx, claim, metav1.CreateOptions{})
	w.must(err)
}
