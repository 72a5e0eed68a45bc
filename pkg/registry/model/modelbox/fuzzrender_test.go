// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// expectRendered checks the children of an accepted box, for each way to decide the number of its pods.
func expectRendered(t *testing.T, box *model.ModelBox) {
	t.Helper()
	served := asServed(t, box)
	for _, scaling := range []modelboxrender.Scaling{modelboxrender.ScaledByBox, modelboxrender.ScaledByAutoscaler(1), modelboxrender.ScaledByAutoscaler(3)} {
		before := served.DeepCopy()
		children := renderBox(t, served, scaling)
		if !apiequality.Semantic.DeepEqual(before, served) {
			t.Errorf("rendering it changes it:\n%s", cmp.Diff(before, served))
		}
		// A box that was stored and read renders the same.
		stored, err := decode(encode(t, box, runtime.ContentTypeProtobuf))
		if err != nil {
			t.Fatal(err)
		}
		if again := renderBox(t, asServed(t, stored), scaling); !apiequality.Semantic.DeepEqual(children, again) {
			t.Errorf("it renders differently the second time:\n%s", cmp.Diff(children, again))
		}
		for _, child := range children {
			expectValidChild(t, box, child)
		}
	}
	expectRolledBack(t, served)
}

// expectRolledBack renders the box during a rollback to pods that lack one of its ports, for each port.
func expectRolledBack(t *testing.T, box *modelv1.ModelBox) {
	t.Helper()
	for i := range box.Spec.Ports {
		stable := box.DeepCopy()
		stable.Spec.Ports = slices.Delete(stable.Spec.Ports, i, i+1)
		stable.Spec.Image += "-stable"
		expectRenderedInRollout(t, box, stable, withoutSteps(modelv1.RolloutRolledBack))
	}
}

func asServed(t *testing.T, box *model.ModelBox) *modelv1.ModelBox {
	t.Helper()
	served := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box.DeepCopy(), served, nil); err != nil {
		t.Fatal(err)
	}
	return served
}

func renderBox(t *testing.T, box *modelv1.ModelBox, scaling modelboxrender.Scaling) []*unstructured.Unstructured {
	t.Helper()
	children, err := modelboxrender.Children(box, scaling)
	if err != nil {
		t.Fatalf("rendering: %v", err)
	}
	return children
}

func expectValidChild(t *testing.T, box *model.ModelBox, child *unstructured.Unstructured) {
	t.Helper()
	isNamedAfterBox := child.GetName() == box.Name || strings.HasPrefix(child.GetName(), box.Name+"-")
	isRetained := child.GetKind() == "PersistentVolumeClaim" && metav1.GetControllerOf(child) == nil
	if !isNamedAfterBox || child.GetNamespace() != box.Namespace || !metav1.IsControlledBy(child, box) && !isRetained {
		t.Errorf("%s %s/%s is not the box's own", child.GetKind(), child.GetNamespace(), child.GetName())
	}
	switch kind := child.GetKind(); kind {
	case "Deployment":
		deployment := &appsv1.Deployment{}
		toTyped(t, child, deployment)
		expectValidDeployment(t, box, deployment)
	case "StatefulSet":
		statefulSet := &appsv1.StatefulSet{}
		toTyped(t, child, statefulSet)
		expectValidStatefulSet(t, box, statefulSet)
	case "DaemonSet":
		daemonSet := &appsv1.DaemonSet{}
		toTyped(t, child, daemonSet)
		expectValidDaemonSet(t, box, daemonSet)
	case "Job":
		job := &batchv1.Job{}
		toTyped(t, child, job)
		expectValidJob(t, box, &job.Spec)
	case "CronJob":
		cronJob := &batchv1.CronJob{}
		toTyped(t, child, cronJob)
		if cronJob.Spec.Schedule == "" || len(cronJob.Name) > 52 {
			t.Errorf("CronJob %s has the schedule %q", cronJob.Name, cronJob.Spec.Schedule)
		}
		expectValidJob(t, box, &cronJob.Spec.JobTemplate.Spec)
	case "Service":
		service := &corev1.Service{}
		toTyped(t, child, service)
		expectValidService(t, service)
	case "ConfigMap":
		configMap := &corev1.ConfigMap{}
		toTyped(t, child, configMap)
		expectValidConfigMap(t, configMap)
	case "PersistentVolumeClaim":
		claim := &corev1.PersistentVolumeClaim{}
		toTyped(t, child, claim)
		expectValidClaim(t, claim.Name, &claim.Spec)
	case "Ingress":
		ingress := &networkingv1.Ingress{}
		toTyped(t, child, ingress)
		expectValidIngress(t, box, ingress)
	case "HTTPRoute":
		route := &gatewayv1.HTTPRoute{}
		toTyped(t, child, route)
		expectValidRoute(t, box, route)
	case "GRPCRoute":
		route := &gatewayv1.GRPCRoute{}
		toTyped(t, child, route)
		expectValidGRPCRoute(t, box, route)
	case "HorizontalPodAutoscaler":
		autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
		toTyped(t, child, autoscaler)
		for _, err := range corevalidation.ValidateHorizontalPodAutoscalerSpec(&autoscaler.Spec, field.NewPath("spec")) {
			t.Errorf("the autoscaler is refused: %v", err)
		}
	case "PodDisruptionBudget":
		budget := &policyv1.PodDisruptionBudget{}
		toTyped(t, child, budget)
		if (budget.Spec.MinAvailable == nil) == (budget.Spec.MaxUnavailable == nil) {
			t.Errorf("the budget is %+v", budget.Spec)
		}
	case "NetworkPolicy":
		policy := &networkingv1.NetworkPolicy{}
		toTyped(t, child, policy)
		for _, err := range corevalidation.ValidateNetworkPolicySpec(&policy.Spec, field.NewPath("spec")) {
			t.Errorf("the policy is refused: %v", err)
		}
	default:
		t.Errorf("it renders a %s", kind)
	}
}

// toTyped decodes a child as the cluster does, which knows no other fields than its own.
func toTyped(t *testing.T, child *unstructured.Unstructured, typed any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(child.Object, typed, true); err != nil {
		t.Fatalf("%s: %v", child.GetKind(), err)
	}
}

func expectValidService(t *testing.T, service *corev1.Service) {
	t.Helper()
	for _, message := range apivalidation.NameIsDNS1035Label(service.Name, false) {
		t.Errorf("the name of the Service %s", message)
	}
	if len(service.Spec.Ports) == 0 {
		t.Error("the Service has no ports")
	}
	seen := sets.New[any]()
	for _, port := range service.Spec.Ports {
		type number struct {
			port     int32
			protocol corev1.Protocol
		}
		if port.Port < 1 || port.Port > 65535 || seen.HasAny(number{port.Port, port.Protocol}, port.Name) {
			t.Errorf("the Service has the port %+v, or has it twice", port)
		}
		if port.Name == "" && len(service.Spec.Ports) > 1 {
			t.Errorf("port %d, of several, has no name", port.Port)
		}
		seen.Insert(number{port.Port, port.Protocol}, port.Name)
	}
}
