// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Workloads are the kinds of workloads of a box whose pods run all the time.
var Workloads = []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet}

// WithWorkload sets the workload of a box, and removes fields that the workload does not have. The schedule of a CronJob never comes.
func WithWorkload(kind modelv1.Workload) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Workload = kind
		if !kind.HasReplicas() {
			spec.Replicas = nil
		}
		if kind.RunsToCompletion() {
			spec.Ports, spec.MinReadySeconds = nil, nil
		}
		if kind == modelv1.WorkloadCronJob {
			spec.CronJob = &modelv1.ModelBoxCronJobSpec{Schedule: "0 0 1 1 *"}
		}
	}
}

// Workload is the workload of a box, of any kind.
type Workload struct {
	metav1.Object
	Template *corev1.PodTemplateSpec
	// Replicas is nil for a DaemonSet, a Job and a CronJob.
	Replicas *int32
}

// FindWorkload returns the workload of a box.
func (n *Namespace) FindWorkload(kind modelv1.Workload, name string) (Workload, error) {
	apps, batch := n.ControlPlane.KubeClient.AppsV1(), n.ControlPlane.KubeClient.BatchV1()
	switch kind {
	case modelv1.WorkloadStatefulSet:
		set, err := apps.StatefulSets(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		return Workload{set, &set.Spec.Template, set.Spec.Replicas}, err
	case modelv1.WorkloadDaemonSet:
		set, err := apps.DaemonSets(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		return Workload{set, &set.Spec.Template, nil}, err
	case modelv1.WorkloadJob:
		job, err := batch.Jobs(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		return Workload{job, &job.Spec.Template, nil}, err
	case modelv1.WorkloadCronJob:
		cronJob, err := batch.CronJobs(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		return Workload{cronJob, &cronJob.Spec.JobTemplate.Spec.Template, nil}, err
	default:
		deployment, err := apps.Deployments(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		return Workload{deployment, &deployment.Spec.Template, deployment.Spec.Replicas}, err
	}
}

// GetWorkload is like FindWorkload, for a workload that exists.
func (n *Namespace) GetWorkload(kind modelv1.Workload, name string) Workload {
	n.T.Helper()
	workload, err := n.FindWorkload(kind, name)
	if err != nil {
		n.T.Fatalf("reading %s %s: %v", kind, name, err)
	}
	return workload
}

// AwaitWorkload returns the workload as soon as check returns nil for it.
func (n *Namespace) AwaitWorkload(kind modelv1.Workload, name, what string, check func(Workload) error) Workload {
	n.T.Helper()
	var workload Workload
	n.Eventually(fmt.Sprintf("%s %s %s", kind, name, what), func() (err error) {
		if workload, err = n.FindWorkload(kind, name); err != nil {
			return err
		}
		return check(workload)
	})
	return workload
}

// PatchWorkload applies a JSON patch to a workload as OtherManager.
func (n *Namespace) PatchWorkload(kind modelv1.Workload, name, patch string) {
	n.T.Helper()
	_, err := n.ControlPlane.KubeClient.AppsV1().RESTClient().Patch(types.JSONPatchType).
		Namespace(n.Name).Resource(resourceOf(kind)).Name(name).Param("fieldManager", OtherManager).
		Body([]byte(patch)).DoRaw(n.Ctx)
	if err != nil {
		n.T.Fatalf("changing %s %s: %v", kind, name, err)
	}
}

func resourceOf(kind modelv1.Workload) string { return strings.ToLower(string(kind)) + "s" }

// PodUIDs returns the UIDs of the pods of a box that are not being deleted.
func (n *Namespace) PodUIDs(box string) map[string]types.UID {
	n.T.Helper()
	pods, err := n.LivePods(box)
	if err != nil {
		n.T.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods {
		uids[pod.Name] = pod.UID
	}
	return uids
}
