// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// lastSpecAnnotation has the spec that the children were last written for.
const lastSpecAnnotation = "bench.model.github.com/spec"

// Reconciler reconciles one box after the other.
type Reconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile creates missing children of a box, and replaces their specs if the spec of the box has changed.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	box := &modelv1.ModelBox{}
	if err := r.Get(ctx, request.NamespacedName, box); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if box.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	deployment := &appsv1.Deployment{}
	err := r.Get(ctx, request.NamespacedName, deployment)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, r.create(ctx, box)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the Deployment: %w", err)
	}
	last := modelv1.ModelBoxSpec{}
	if err := json.Unmarshal([]byte(box.Annotations[lastSpecAnnotation]), &last); err != nil || !equality.Semantic.DeepEqual(box.Spec, last) {
		return ctrl.Result{}, r.update(ctx, box, deployment)
	}
	return ctrl.Result{}, r.updateStatus(ctx, box, deployment)
}

func (r *Reconciler) create(ctx context.Context, box *modelv1.ModelBox) error {
	for _, child := range []client.Object{newDeployment(box), newService(box)} {
		if err := ctrl.SetControllerReference(box, child, r.Scheme); err != nil {
			return err
		}
		if err := r.Create(ctx, child); err != nil {
			return fmt.Errorf("creating a child: %w", err)
		}
	}
	return r.remember(ctx, box)
}

func (r *Reconciler) update(ctx context.Context, box *modelv1.ModelBox, deployment *appsv1.Deployment) error {
	deployment.Spec = newDeployment(box).Spec
	if err := r.Update(ctx, deployment); err != nil {
		return fmt.Errorf("updating the Deployment: %w", err)
	}
	service := &corev1.Service{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(box), service); err != nil {
		return fmt.Errorf("reading the Service: %w", err)
	}
	clusterIP := service.Spec.ClusterIP
	service.Spec = newService(box).Spec
	service.Spec.ClusterIP = clusterIP
	if err := r.Update(ctx, service); err != nil {
		return fmt.Errorf("updating the Service: %w", err)
	}
	return r.remember(ctx, box)
}

// remember keeps the spec of the box in its annotation.
func (r *Reconciler) remember(ctx context.Context, box *modelv1.ModelBox) error {
	spec, err := json.Marshal(box.Spec)
	if err != nil {
		return err
	}
	if box.Annotations == nil {
		box.Annotations = map[string]string{}
	}
	if box.Annotations[lastSpecAnnotation] == string(spec) {
		return nil
	}
	box.Annotations[lastSpecAnnotation] = string(spec)
	if err := r.Update(ctx, box); err != nil {
		return fmt.Errorf("updating the annotation: %w", err)
	}
	return nil
}

func (r *Reconciler) updateStatus(ctx context.Context, box *modelv1.ModelBox, deployment *appsv1.Deployment) error {
	before := box.Status.DeepCopy()
	status := &box.Status
	status.ObservedGeneration = box.Generation
	status.DesiredReplicas = deployment.Spec.Replicas
	status.Replicas = deployment.Status.Replicas
	status.UpdatedReplicas = deployment.Status.UpdatedReplicas
	status.ReadyReplicas = deployment.Status.ReadyReplicas
	status.AvailableReplicas = deployment.Status.AvailableReplicas
	status.Selector = metav1.FormatLabelSelector(deployment.Spec.Selector)
	if len(box.Spec.Ports) > 0 {
		status.Address = fmt.Sprintf("%s.%s.svc:%d", box.Name, box.Namespace, box.Spec.Ports[0].Port)
	}
	ready := metav1.Condition{
		Type: modelv1.ConditionReady, Status: metav1.ConditionFalse, Reason: modelv1.ReasonProgressing,
		Message: "the rollout is running", ObservedGeneration: box.Generation,
	}
	if isComplete(deployment) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, modelv1.ReasonReady, "the rollout is complete"
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	if equality.Semantic.DeepEqual(before, status) {
		return nil
	}
	if err := r.Status().Update(ctx, box); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}

func isComplete(deployment *appsv1.Deployment) bool {
	replicas, status := *deployment.Spec.Replicas, &deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.UpdatedReplicas == replicas && status.Replicas == replicas && status.AvailableReplicas == replicas
}
