// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// WorkloadKind returns the kind of the object that runs the pods of the box: a Deployment, a StatefulSet, a DaemonSet, a Job or a CronJob.
func WorkloadKind(box *modelv1.ModelBox) schema.GroupVersionKind {
	if box.Spec.Workload.RunsToCompletion() {
		return batchv1.SchemeGroupVersion.WithKind(string(box.Spec.Workload))
	}
	return appsv1.SchemeGroupVersion.WithKind(string(box.Spec.Workload))
}

// workload renders the object that runs the pods of the box.
func workload(box *modelv1.ModelBox, scaling Scaling) (runtime.ApplyConfiguration, error) {
	template, err := podTemplate(box)
	if err != nil {
		return nil, err
	}
	switch box.Spec.Workload {
	case modelv1.WorkloadStatefulSet:
		return statefulSet(box, scaling, template), nil
	case modelv1.WorkloadDaemonSet:
		return daemonSet(box, template), nil
	case modelv1.WorkloadDeployment:
		return deployment(box, scaling, template), nil
	case modelv1.WorkloadJob:
		return job(box, template)
	case modelv1.WorkloadCronJob:
		return cronJob(box, template), nil
	default:
		return nil, fmt.Errorf("this release does not know the workload %q", box.Spec.Workload)
	}
}

// autoscaledAnnotations returns the annotations of a workload whose number of pods an autoscaler sets.
func autoscaledAnnotations(box *modelv1.ModelBox) map[string]string {
	return map[string]string{modelv1.AutoscaledAnnotation: strconv.Itoa(int(*box.Spec.Replicas))}
}
