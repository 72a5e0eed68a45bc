// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	typedgatewayv1 "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/typed/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	typedmodelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// users perform the actions of users. Their requests never wait.
type users struct {
	boxes        typedmodelv1.ModelBoxInterface
	stacks       typedmodelv1.ModelStackInterface
	podDebuggers typedmodelv1.PodDebuggerInterface
	routes       typedgatewayv1.HTTPRouteInterface
	cluster      kubernetes.Interface
	world        *world
}

// The objects of users.
const (
	stackName       = "shop"
	podDebuggerName = "tools"
	// settingsName is the name of the ConfigMap that boxes refer to.
	settingsName = "settings"
	fieldManager = "user"
	// foreignAnnotation is an annotation that another client writes on a Deployment. The controllers must not change it.
	foreignAnnotation = "example.com/note"
)

var boxNames = []string{"a", "b"}

// encode returns the object as JSON, for the trace.
func encode(object any) string {
	data, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// manifest returns what a user applies.
func manifest(kind, name string, spec any) []byte {
	return []byte(encode(map[string]any{
		"apiVersion": modelv1.SchemeGroupVersion.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}))
}

var forced = metav1.PatchOptions{FieldManager: fieldManager, Force: ptr.To(true)}

func (u *users) applyBox(ctx context.Context, name string, spec modelv1.ModelBoxSpec) error {
	_, err := u.boxes.Patch(ctx, name, types.ApplyPatchType, manifest("ModelBox", name, spec), forced)
	return err
}

func (u *users) applyStack(ctx context.Context, spec modelv1.ModelStackSpec) error {
	_, err := u.stacks.Patch(ctx, stackName, types.ApplyPatchType, manifest("ModelStack", stackName, spec), forced)
	return err
}

func (u *users) applyPodDebugger(ctx context.Context, spec modelv1.PodDebuggerSpec) error {
	_, err := u.podDebuggers.Patch(ctx, podDebuggerName, types.ApplyPatchType, manifest("PodDebugger", podDebuggerName, spec), forced)
	return err
}

// setSettings writes the ConfigMap that boxes refer to. The data has no earlier value.
func (u *users) setSettings(ctx context.Context) error {
	settings := applycorev1.ConfigMap(settingsName, namespace).WithData(map[string]string{"version": time.Now().String()})
	_, err := u.cluster.CoreV1().ConfigMaps(namespace).Apply(ctx, settings, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err == nil {
		u.world.checks.requireRestarts()
	}
	return err
}

func (u *users) setImage(ctx context.Context, name, image string) error {
	_, err := u.boxes.Patch(ctx, name, types.MergePatchType, []byte(fmt.Sprintf(`{"spec":{"image":%q}}`, image)), metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

func (u *users) scale(ctx context.Context, name string, replicas int32) error {
	scale, err := u.boxes.GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = replicas
	_, err = u.boxes.UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
	return err
}

// deleteChildren deletes the objects that have the name of the box.
func (u *users) deleteChildren(ctx context.Context, name string) error {
	u.world.checks.waiveCapacity(name)
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{
		u.cluster.AppsV1().Deployments(namespace).Delete, u.cluster.AppsV1().StatefulSets(namespace).Delete, u.cluster.CoreV1().Services(namespace).Delete,
		u.cluster.PolicyV1().PodDisruptionBudgets(namespace).Delete, u.routes.Delete,
	} {
		// Not all of them exist.
		_ = remove(ctx, name, options)
	}
	return nil
}

func (u *users) deletePod(ctx context.Context, name string) error {
	u.world.checks.waiveCapacity(name)
	pods, err := u.cluster.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name})
	if err != nil || len(pods.Items) == 0 {
		return err
	}
	return u.cluster.CoreV1().Pods(namespace).Delete(ctx, pods.Items[0].Name, metav1.DeleteOptions{})
}

// editChildren changes fields that the controllers own, and must restore.
func (u *users) editChildren(ctx context.Context, name string) error {
	u.world.checks.waiveCapacity(name)
	edit := func(patch func(context.Context, string, types.PatchType, []byte, metav1.PatchOptions) error, change string) {
		_ = patch(ctx, name, types.StrategicMergePatchType, []byte(change), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	}
	edit(func(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions) error {
		_, err := u.cluster.AppsV1().Deployments(namespace).Patch(ctx, name, kind, data, options)
		return err
	}, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"another"}},"spec":{"replicas":5}}`)
	edit(func(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions) error {
		_, err := u.cluster.AppsV1().StatefulSets(namespace).Patch(ctx, name, kind, data, options)
		return err
	}, `{"spec":{"replicas":5}}`)
	edit(func(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions) error {
		_, err := u.cluster.CoreV1().Services(namespace).Patch(ctx, name, kind, data, options)
		return err
	}, `{"spec":{"sessionAffinity":"ClientIP"}}`)
	// Custom resources have no strategic merge patch.
	_, _ = u.routes.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"hostnames":["other.example.com"]}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	return nil
}

func (u *users) annotate(ctx context.Context, name string) error {
	change := fmt.Sprintf(`{"metadata":{"annotations":{%q:"kept"}}}`, foreignAnnotation)
	deployment, err := u.cluster.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, []byte(change), metav1.PatchOptions{FieldManager: "another-client"})
	if err == nil {
		u.world.checks.annotated[deployment.UID] = true
	}
	return err
}
