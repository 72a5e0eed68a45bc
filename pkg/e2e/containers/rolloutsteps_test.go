// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// trafficVariable is the environment variable that enables TestReleasesLoseNoRequest.
	trafficVariable = "MODELBOX_E2E_TRAFFIC"

	// manyRequests measure a share of the traffic, and fewRequests that it is all or nothing.
	manyRequests, fewRequests = 10_000, 1_000

	// checkDelay is longer than the measurement of a share.
	checkDelay = "75s"
)

// releaseCases are the releases of TestReleasesLoseNoRequest.
var releaseCases = []releaseCase{
	{
		name: "canary with a route", isRouted: true,
		box: steps(modelv1.RolloutCanary, 10, 50, 100), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			for i, weight := range []int32{10, 50} {
				r.expectStep(int32(i)+1, weight)
				r.n.Promote(r.box)
			}
			r.expectStep(3, 100)
			before := r.stableAnswers()
			r.n.Promote(r.box)
			r.expectComplete()
			framework.ExpectEqual(r.n.T, "answers of the stable version, which had no traffic before", before, r.stableAnswers())
		},
		answers: []string{"1", "2"},
	},
	{
		name: "canary without a route",
		box:  steps(modelv1.RolloutCanary, 10, 50, 100), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			for i, weight := range []int32{25, 50, 100} { // 10 % of four pods is one pod
				r.expectStep(int32(i)+1, weight)
				r.n.Promote(r.box)
			}
			r.expectComplete()
		},
		answers: []string{"1", "2"},
	},
	{
		name: "canary without a route in one step",
		box:  steps(modelv1.RolloutCanary, 50), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 50)
			r.n.Promote(r.box)
			r.expectComplete()
		},
		answers: []string{"1", "2"},
	},
	{
		name: "canary of a StatefulSet",
		box:  all(framework.WithWorkload(modelv1.WorkloadStatefulSet), steps(modelv1.RolloutCanary, 25, 50)), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			for i, weight := range []int32{25, 50} {
				r.expectStep(int32(i)+1, weight)
				r.n.Promote(r.box)
			}
			r.expectComplete()
		},
		answers: []string{"1", "2"},
	},
	{
		name: "canary whose check succeeds", isRouted: true,
		box: all(framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 10}, modelv1.ModelBoxRolloutStep{Weight: 50}),
			withErrorCheck("")),
		change:  framework.WithImage(newAppImage),
		follow:  (*release).expectComplete,
		answers: []string{"1", "2"},
	},
	{
		name: "blue-green",
		box:  steps(modelv1.RolloutBlueGreen, 0), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 0)
			r.n.Promote(r.box)
			r.expectComplete()
		},
		answers: []string{"1", "2"},
	},
	{
		name: "aborted canary with a route", isRouted: true,
		box: steps(modelv1.RolloutCanary, 10, 50), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 10)
			r.n.Promote(r.box)
			r.expectStep(2, 50)
			r.n.Abort(r.box)
			r.expectRolledBack(modelv1.RolloutAborted)
		},
		answers: []string{"1", "2"},
	},
	{
		name: "aborted canary without a route",
		box:  steps(modelv1.RolloutCanary, 50), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 50)
			r.n.Abort(r.box)
			r.expectRolledBack(modelv1.RolloutAborted)
		},
		answers: []string{"1", "2"},
	},
	{
		name: "aborted blue-green",
		box:  steps(modelv1.RolloutBlueGreen, 0), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 0)
			r.n.Abort(r.box)
			r.expectRolledBack(modelv1.RolloutAborted)
		},
		answers: []string{"1"},
	},
	{
		name: "canary taken back", isRouted: true,
		box: steps(modelv1.RolloutCanary, 50), change: framework.WithImage(newAppImage),
		follow: func(r *release) {
			r.expectStep(1, 50)
			r.n.UpdateBox(r.box, framework.WithImage(appImage))
			r.n.AwaitReady(r.box)
			r.awaitNoCandidate()
			r.awaitStablePods()
		},
		answers: []string{"1", "2"},
	},
	{
		name: "canary that changes in the middle with a route", isRouted: true,
		box: steps(modelv1.RolloutCanary, 10, 50), change: framework.WithImage(newAppImage),
		follow:  changeInTheMiddle(10),
		answers: []string{"1", "2"},
	},
	{
		name: "canary that changes in the middle without a route",
		box:  steps(modelv1.RolloutCanary, 25, 50), change: framework.WithImage(newAppImage),
		follow:  changeInTheMiddle(25),
		answers: []string{"1", "2"},
	},
	{
		name: "canary that fails its check with a route", isRouted: true,
		box:    all(steps(modelv1.RolloutCanary, 10), withErrorCheck(checkDelay)),
		change: all(framework.WithImage(newAppImage), withStatus("500")),
		follow: func(r *release) {
			r.expectStep(1, 10)
			r.expectRolledBack(modelv1.ReasonCheckFailed)
		},
		answers: []string{"1", badAnswer}, maxBad: 10,
	},
	{
		name:   "canary that fails its check without a route",
		box:    all(steps(modelv1.RolloutCanary, 25), withErrorCheck(checkDelay)),
		change: all(framework.WithImage(newAppImage), withStatus("500")),
		follow: func(r *release) {
			r.expectStep(1, 25)
			r.expectRolledBack(modelv1.ReasonCheckFailed)
		},
		answers: []string{"1", badAnswer}, maxBad: 25,
	},
	{
		name:   "blue-green that fails its check",
		box:    all(steps(modelv1.RolloutBlueGreen, 0), withErrorCheck("")),
		change: all(framework.WithImage(newAppImage), withStatus("500")),
		follow: func(r *release) {
			r.n.AwaitStep(r.box, 1, 0)
			// These requests are for the Service of the candidate, and not for the box.
			var service *corev1.Service
			r.n.Eventually("the candidate has a Service", func() (err error) {
				service, err = r.n.Services.Get(r.n.Ctx, helper.CandidateName(r.box), metav1.GetOptions{})
				return err
			})
			candidate := startTraffic(r.n.T, &http.Transport{}, "http://"+service.Spec.ClusterIP+"/version")
			r.n.AwaitReadyCondition(r.box, metav1.ConditionFalse, modelv1.ReasonRolledBack)
			candidate.end()
			r.expectRolledBack(modelv1.ReasonCheckFailed)
		},
		answers: []string{"1"},
	},
	{
		name: "canary with a route that crashes at its start", isRouted: true,
		box:     all(steps(modelv1.RolloutCanary, 50), withOneRestart),
		change:  all(framework.WithImage(newAppImage), withArgs("exit", "1")),
		follow:  func(r *release) { r.expectRolledBack("CrashLoopBackOff") },
		answers: []string{"1"},
	},
	{
		name: "canary of an image that does not exist", isRouted: true,
		box: steps(modelv1.RolloutCanary, 50), change: framework.WithImage("localcluster/testapp:missing"),
		follow:  func(r *release) { r.expectRolledBack("ImagePullBackOff", "ErrImagePull") },
		answers: []string{"1"},
	},
	{
		name:   "canary with a bad file",
		box:    all(steps(modelv1.RolloutCanary, 50), withOneRestart),
		change: withStatus("none"),
		follow: func(r *release) {
			r.expectRolledBack("CrashLoopBackOff")
			deleteOneByOne(r.box)(r.n) // The new pods get the former file.
			r.awaitStablePods()
		},
		answers: []string{"1"},
	},
	{
		name: "canary without a ConfigMap that it needs", isRouted: true,
		box: steps(modelv1.RolloutCanary, 50),
		change: framework.WithEnvs(corev1.EnvVar{Name: "MISSING", ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}, Key: "missing"},
		}}),
		follow:  func(r *release) { r.expectRolledBack("CreateContainerConfigError") },
		answers: []string{"1"},
	},
	{
		name:   "rolling update with a bad file",
		box:    all(withOneRestart, func(spec *modelv1.ModelBoxSpec) { spec.Rollout.OnFailure = modelv1.RolloutFailureRollback }),
		change: withStatus("none"),
		follow: func(r *release) {
			r.expectRolledBack("CrashLoopBackOff")
			deleteOneByOne(r.box)(r.n)
			r.awaitStablePods()
		},
		answers: []string{"1"},
	},
}

// TestReleasesLoseNoRequest measures the shares of the traffic with 10,000 requests each.
func TestReleasesLoseNoRequest(t *testing.T) {
	if os.Getenv(trafficVariable) == "" {
		t.Skip(trafficVariable + " is not set")
	}
	framework.RequireContainerNode(t)
	prometheus := newPodPrometheus(t)
	plane := framework.NewControlPlane(t, append(framework.ContainerNodeFlags(), framework.ServerFlags("--prometheus-url="+prometheus.URL)...)...)
	prometheus.pods.SetPlane(plane)
	releases := newReleases(plane.NewNamespace(t))
	for i := range releaseCases {
		t.Run(releaseCases[i].name, func(t *testing.T) { releases.run(t, fmt.Sprintf("web-%d", i+1), &releaseCases[i]) })
	}
}

// changeInTheMiddle changes the new version in its second step. Then it has the weight of the first step again.
func changeInTheMiddle(weight int32) func(*release) {
	return func(r *release) {
		r.expectStep(1, weight)
		r.n.Promote(r.box)
		r.expectStep(2, 50)
		r.n.UpdateBox(r.box, framework.WithEnvs(framework.EnvValue("CHANGE", "2")))
		r.expectStep(1, weight)
		r.n.PromoteFully(r.box)
		r.expectComplete()
	}
}

func all(changes ...func(*modelv1.ModelBoxSpec)) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		for _, change := range changes {
			change(spec)
		}
	}
}

// steps makes rollouts of the type with these weights. Each step lasts until it is promoted.
func steps(rolloutType modelv1.RolloutType, weights ...int32) func(*modelv1.ModelBoxSpec) {
	var steps []modelv1.ModelBoxRolloutStep
	for _, weight := range weights {
		steps = append(steps, modelv1.ModelBoxRolloutStep{Weight: weight, Pause: modelv1.PauseManual})
	}
	return framework.WithSteps(rolloutType, steps...)
}

// withStatus sets the file with the HTTP status of responses.
func withStatus(status string) func(*modelv1.ModelBoxSpec) {
	return framework.WithConfig("app", modelv1.ConfigRolloutRestart, status)
}

// withOneRestart lets a rollout fail at the second crash.
func withOneRestart(spec *modelv1.ModelBoxSpec) {
	if spec.Rollout == nil {
		spec.Rollout = &modelv1.ModelBoxRollout{}
	}
	spec.Rollout.MaxRestarts = ptr.To[int32](1)
}

// withErrorCheck lets a rollout fail when more than 5% of the responses of its pods are errors.
func withErrorCheck(initialDelay string) func(*modelv1.ModelBoxSpec) {
	const pods = `pod=~"web-[0-9]+-canary-{{canary}}-.*"`
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Rollout.Checks = []modelv1.ModelBoxRolloutCheck{{
			Name: "errors",
			Prometheus: modelv1.ModelBoxPrometheusQuery{
				Query: `(sum(rate(http_requests_total{` + pods + `,code=~"5.."}[10s])) or vector(0)) / sum(rate(http_requests_total{` + pods + `}[10s]))`,
			},
			Max:          ptr.To(resource.MustParse("0.05")),
			Interval:     "5s",
			InitialDelay: initialDelay,
		}}
	}
}
