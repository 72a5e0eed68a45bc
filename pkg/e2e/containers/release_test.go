// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// release is a new version of a box that runs, with clients that send requests to the box through a proxy.
type release struct {
	n          *framework.Namespace
	controller *ingressController
	box        string
	traffic    *traffic
}

// releaseCase is what a release does, and what its clients get.
type releaseCase struct {
	name string
	// box changes the box before its release.
	box func(*modelv1.ModelBoxSpec)
	// isRouted says that the box has an HTTPRoute, and not an Ingress.
	isRouted bool
	change   func(*modelv1.ModelBoxSpec)
	// follow observes the release until its end.
	follow func(*release)
	// answers are all responses that clients get.
	answers []string
	// maxBad is the maximum percentage of bad answers.
	maxBad float64
}

// releases runs releases behind one proxy.
type releases struct {
	n          *framework.Namespace
	controller *ingressController
	visitor    *proxyVisitor
	class      string
}

func newReleases(n *framework.Namespace) *releases {
	n.T.Helper()
	if !hasImage("localcluster-nginx-1.tar") {
		n.T.Skip("there is no image of a proxy")
	}
	class := n.Name // no other test has it
	createIngressClass(n, class)
	serveHTTPRoutes(n)
	proxy := startProxy(n)
	return &releases{n, startGatewayController(n, class, proxy), newProxyVisitor(n, proxy, nil), class}
}

// run runs the release. Only the new version itself may fail requests, and no more of them than its share.
func (r *releases) run(t *testing.T, name string, test *releaseCase) {
	n := r.n.In(t)
	host := name + ".example.com"
	expose := framework.WithIngress(r.class, host)
	if test.isRouted {
		expose = withRoute(host)
	}
	n.CreateReadyBox(framework.NewBox(name, framework.WithImage(appImage), framework.WithReplicas(servingPods), checkedOften,
		framework.WithConfig("app", modelv1.ConfigRolloutRestart, "200"), withArgs("-status-file=/etc/app/"+framework.ConfigFile), expose, test.box))
	release := &release{n: n, controller: r.controller, box: name}
	release.awaitShare(0)
	url := "http://" + host + "/version"
	r.visitor.awaitAnswer(n, url, http.StatusOK)

	r.controller.takeSlowest()
	release.traffic = startTraffic(t, r.visitor.transport, url)
	n.UpdateBox(name, test.change)
	test.follow(release)
	// A pod can lose requests as long as it exists.
	awaitSettledPods(n, name, servingPods)
	release.traffic.expectNoneLost(n, test.answers...)
	t.Logf("the proxy loaded each change within %s", r.controller.takeSlowest().Round(time.Millisecond))
	answers, _ := release.traffic.requests()
	if bad := 100 * float64(answers[badAnswer]) / float64(sum(answers)); bad > test.maxBad {
		t.Errorf("the new version failed %.2f%% of the requests, want at most %v%%", bad, test.maxBad)
	} else if answers[badAnswer] > 0 {
		t.Logf("the new version failed %.2f%% of the requests", bad)
	}
	n.Kubectl.Run("delete", "modelbox", name)
}

// expectStep waits for a step, and checks that the new version gets its share of the requests.
func (r *release) expectStep(step, weight int32) {
	r.n.T.Helper()
	r.n.AwaitStep(r.box, step, weight)
	r.expectShare(weight)
}

// expectShare checks that the new version gets this percentage of the requests. The tolerance is four standard deviations of requests
// that a proxy distributes at random: 2 percentage points for half of 10,000 requests. All or none of the requests need no more than
// a few of them, but not at once: after a reload, the former processes of the proxy still answer the requests that they have.
func (r *release) expectShare(weight int32) {
	r.n.T.Helper()
	r.awaitShare(weight)
	if weight == 0 || weight == 100 {
		r.n.Eventually(fmt.Sprintf("the new version gets %d%% of the requests", weight), func() error { return r.measureShare(weight, fewRequests) })
		return
	}
	if err := r.measureShare(weight, manyRequests); err != nil {
		r.n.T.Error(err)
	}
}

// measureShare returns an error if the new version does not get this percentage of that many requests.
func (r *release) measureShare(weight int32, requests int) error {
	r.n.T.Helper()
	answers := r.traffic.measure(r.n, requests)
	total := sum(answers)
	share, want := 100*float64(answers[newAppVersion]+answers[badAnswer])/float64(total), float64(weight)
	tolerance := 4 * math.Sqrt(want*(100-want)/float64(total))
	r.n.T.Logf("weight %d: %.2f%% of %d requests, by answer: %v", weight, share, total, answers)
	if math.Abs(share-want) > tolerance {
		return fmt.Errorf("the new version has %.2f%% of %d requests, want %v%% with a tolerance of %.2f points", share, total, want, tolerance)
	}
	return nil
}

// awaitShare waits until the proxy sends this percentage of the requests to pods of the new version. Pods that are being deleted count,
// because the proxy learns late of that.
func (r *release) awaitShare(weight int32) {
	r.n.T.Helper()
	r.n.Eventually(fmt.Sprintf("the proxy sends %d%% of the requests to the new version", weight), func() error {
		pods, err := r.n.Pods.List(r.n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + r.box})
		if err != nil {
			return err
		}
		addresses := map[string]bool{}
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Spec.Containers[0].Image == newAppImage {
				addresses[net.JoinHostPort(pod.Status.PodIP, "80")] = true
			}
		}
		loaded := r.controller.loaded.Load()
		share := loaded.shareOf(r.box+".example.com", func(address string) bool { return addresses[address] })
		if math.Abs(share-float64(weight)) > 0.01 {
			return fmt.Errorf("it sends %.2f%%: %+v", share, loaded)
		}
		return nil
	})
}

// stableAnswers returns the number of requests so far that the stable version has answered.
func (r *release) stableAnswers() int {
	answers, _ := r.traffic.requests()
	return answers[stableAppVersion]
}

// expectComplete waits until all pods have the new version.
func (r *release) expectComplete() {
	r.n.T.Helper()
	r.n.AwaitReady(r.box)
	r.awaitNoCandidate()
	r.expectShare(100)
}

// expectRolledBack waits until the box is rolled back for one of the reasons, and all pods are stable ones.
func (r *release) expectRolledBack(reasons ...string) {
	r.n.T.Helper()
	r.n.AwaitReadyCondition(r.box, metav1.ConditionFalse, modelv1.ReasonRolledBack)
	if reason := r.n.GetBox(r.box).Status.Rollout.Reason; !slices.Contains(reasons, reason) {
		r.n.T.Errorf("the rollout has failed with the reason %s, want one of %q", reason, reasons)
	}
	r.awaitNoCandidate()
	r.awaitStablePods()
}

// awaitStablePods waits until all pods are available and none has the new version.
func (r *release) awaitStablePods() {
	r.n.T.Helper()
	r.n.AwaitImages(r.box, map[string]int{appImage: servingPods})
	r.expectShare(0)
}

// awaitNoCandidate waits until the candidate is deleted.
func (r *release) awaitNoCandidate() {
	r.n.T.Helper()
	r.n.Eventually("the candidate is gone", func() error {
		_, err := r.n.Deployments.Get(r.n.Ctx, helper.CandidateName(r.box), metav1.GetOptions{})
		return framework.CheckGone(err)
	})
}
