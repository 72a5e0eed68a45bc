// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// jobsRunOnce checks the Jobs of a box. The Job before a rollout fails until a database is ready. Until then, the box serves with its
// former pods.
func jobsRunOnce(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("database"))
	pods, err := n.LivePods("database")
	if err != nil {
		n.T.Fatal(err)
	}
	database := "http://" + pods[0].Status.PodIP
	get := func(path string) *modelv1.ModelBoxJob {
		return &modelv1.ModelBoxJob{Args: []string{"get", database + path}}
	}
	n.CreateReadyBox(newAppBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Before, spec.After = get("/ready"), get("/alive") }))
	expectJobs(n, map[modelv1.JobType]int{modelv1.JobBefore: 1, modelv1.JobAfter: 1})

	tell(n, "database", "/ready/off")
	n.UpdateBox("web", framework.WithImage(newAppImage))
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonProgressing, "waiting for Job web-before-", "2 of 7 attempts failed")
	expectAnswer(n, "web", "/version", "1")
	pending := renderedJobs(n)
	if diff := n.Kubectl.Run("get", "--raw=/apis/model.github.com/v1/namespaces/"+n.Name+"/modelboxes/web/diff"); !strings.Contains(diff, "runs the Job of spec.after") {
		n.T.Errorf("the diff does not have the Job after the rollout:\n%s", diff)
	}
	if _, err := visit(http.MethodPost, database+"/ready/on"); err != nil {
		n.T.Fatal(err)
	}
	n.AwaitReady("web")
	expectAnswer(n, "web", "/version", "2")
	expectJobs(n, map[modelv1.JobType]int{modelv1.JobBefore: 2, modelv1.JobAfter: 2})
	framework.ExpectEqual(n.T, "number of Jobs in the render during the rollout", 2, len(pending))
	n.Kubectl.Run(append([]string{"get"}, pending...)...)
	framework.ExpectEqual(n.T, "Jobs in the render after the rollout", 0, len(renderedJobs(n)))

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		framework.WithEnvs(framework.EnvValue("CHANGE", "1"))(spec)
		spec.Before = get("/missing")
		spec.Before.BackoffLimit = ptr.To[int32](0)
	})
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRolloutFailed, "JobFailed", "BackoffLimitExceeded", "exit code 1", "404 Not Found")
	expectAnswer(n, "web", "/version", "2")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Before = get("/ready") })
	n.AwaitReady("web")
}

// renderedJobs returns the names of the Jobs in the render of the box, such as "job.batch/web-before-1a2b3c4d5e".
func renderedJobs(n *framework.Namespace) (jobs []string) {
	n.T.Helper()
	for name := range strings.FieldsSeq(runPlugin(n, "render", "web", "--output=name")) {
		if strings.HasPrefix(name, "job.batch/") {
			jobs = append(jobs, name)
		}
	}
	return jobs
}

// expectJobs checks how many Jobs of each type have succeeded.
func expectJobs(n *framework.Namespace, want map[modelv1.JobType]int) {
	n.T.Helper()
	jobs, err := n.ControlPlane.KubeClient.BatchV1().Jobs(n.Name).List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.JobBoxLabel + "=web"})
	if err != nil {
		n.T.Fatal(err)
	}
	succeeded := map[modelv1.JobType]int{}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if job.Status.Succeeded == 1 {
			succeeded[modelv1.JobType(job.Labels[modelv1.JobTypeLabel])]++
		}
	}
	framework.ExpectEqual(n.T, "Jobs that have succeeded", fmt.Sprint(want), fmt.Sprint(succeeded))
}
