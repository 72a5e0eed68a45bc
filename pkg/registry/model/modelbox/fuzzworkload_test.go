// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

// isPortName tells the fields that may hold the name of a Service port, given to the main container, which another
// container's port has as well. The cluster takes that, and only an overlay may not ask for it.
var isPortName = regexp.MustCompile(`ontainers\[\d+\]\.ports\[\d+\]\.name$`)

func expectValidDeployment(t *testing.T, box *model.ModelBox, deployment *appsv1.Deployment) {
	t.Helper()
	spec := &deployment.Spec
	expectValidWorkload(t, box, spec.Replicas, spec.MinReadySeconds, spec.Selector, &spec.Template)
	if spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		if spec.Strategy.RollingUpdate != nil {
			t.Error("a Deployment that is recreated has steps of a rolling update")
		}
		return
	}
	surge, unavailable := podsOfAHundred(t, spec.Strategy.RollingUpdate.MaxSurge), podsOfAHundred(t, spec.Strategy.RollingUpdate.MaxUnavailable)
	if surge < 0 || unavailable < 0 || surge == 0 && unavailable == 0 {
		t.Errorf("an update continues by %d more and %d fewer pods of a hundred", surge, unavailable)
	}
}

func expectValidStatefulSet(t *testing.T, box *model.ModelBox, statefulSet *appsv1.StatefulSet) {
	t.Helper()
	spec := &statefulSet.Spec
	template := spec.Template.DeepCopy()
	for _, claim := range spec.VolumeClaimTemplates {
		expectValidClaim(t, claim.Name, &claim.Spec)
		// Its pods have a volume of each claim.
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	expectValidWorkload(t, box, spec.Replicas, spec.MinReadySeconds, spec.Selector, template)
	for _, message := range utilvalidation.IsDNS1123Label(spec.ServiceName) {
		t.Errorf("spec.serviceName %s", message)
	}
	for _, message := range utilvalidation.IsValidLabelValue(statefulSet.Name + "-0123456789") {
		t.Errorf("the label controller-revision-hash %s", message)
	}
	if rollingUpdate := spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
		if unavailable := podsOfAHundred(t, rollingUpdate.MaxUnavailable); unavailable <= 0 {
			t.Errorf("an update continues by %d pods of a hundred", unavailable)
		}
	}
}

func expectValidDaemonSet(t *testing.T, box *model.ModelBox, daemonSet *appsv1.DaemonSet) {
	t.Helper()
	spec := &daemonSet.Spec
	expectValidWorkload(t, box, nil, spec.MinReadySeconds, spec.Selector, &spec.Template)
	if rollingUpdate := spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
		// The API has these defaults.
		surge := podsOfAHundred(t, ptr.To(ptr.Deref(rollingUpdate.MaxSurge, intstr.FromInt32(0))))
		unavailable := podsOfAHundred(t, ptr.To(ptr.Deref(rollingUpdate.MaxUnavailable, intstr.FromInt32(1))))
		if surge < 0 || unavailable < 0 || (surge == 0) == (unavailable == 0) {
			t.Errorf("an update continues by %d more and %d fewer pods of a hundred", surge, unavailable)
		}
	}
}

// expectValidJob checks what Kubernetes requires of a Job beyond its pods.
func expectValidJob(t *testing.T, box *model.ModelBox, spec *batchv1.JobSpec) {
	t.Helper()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: box.Name}} // as of the Service
	expectValidWorkload(t, box, nil, 0, selector, &spec.Template)
	isRestarted := spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	if !isRestarted && spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever || isRestarted && spec.PodFailurePolicy != nil {
		t.Errorf("the restart policy is %q with the pod failure policy %v", spec.Template.Spec.RestartPolicy, spec.PodFailurePolicy)
	}
	isIndexed := spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
	if isIndexed && spec.Completions == nil || ptr.Deref(spec.Completions, 1) < 1 || ptr.Deref(spec.Parallelism, 1) < 1 || ptr.Deref(spec.BackoffLimit, 0) < 0 {
		t.Errorf("the Job is %+v", spec)
	}
}

// expectValidWorkload checks what all workloads have in common.
func expectValidWorkload(t *testing.T, box *model.ModelBox, replicas *int32, minReadySeconds int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	t.Helper()
	path := field.NewPath(string(box.Spec.Workload), "spec")
	errs := validation.ValidatePodTemplate(t.Context(), template, box, path.Child("template"))
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(ptr.Deref(replicas, 0)), path.Child("replicas"))...)
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(minReadySeconds), path.Child("minReadySeconds"))...)
	for _, err := range errs {
		if box.Spec.PodTemplate == nil && isPortName.MatchString(err.Field) && err.Type == field.ErrorTypeDuplicate {
			continue
		}
		t.Errorf("what is accepted renders what the cluster refuses: %v", err)
	}
	selects, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	if selects.Empty() || !selects.Matches(labels.Set(template.Labels)) {
		t.Errorf("the selector %s does not match the labels %v", selects, template.Labels)
	}
}

// podsOfAHundred returns how many of a hundred pods these are.
func podsOfAHundred(t *testing.T, value *intstr.IntOrString) int {
	t.Helper()
	pods, err := intstr.GetScaledValueFromIntOrPercent(value, 100, true)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}
