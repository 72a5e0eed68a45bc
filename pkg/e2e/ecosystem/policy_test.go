// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	allowedImage = "registry.example.com/nginx:1"
	deniedImage  = "docker.io/library/nginx:1"
	// denial is in the message of the policies in artifacts/examples/policies.
	denial = "images have to be of the registries"
)

// testPolicies applies the policy for registries in the form of a program, and then the policies that change objects.
func testPolicies(t *testing.T, program string, start func(*framework.Namespace), mutations string) {
	t.Helper()
	n := framework.NewControlPlane(t).NewNamespace(t)
	createEarlierBoxes(n)
	start(n)
	expectPolicyEnforced(n, program)
	expectMutations(n, mutations)
}

// expectPolicyEnforced applies the policy for registries in the form of a program, and tries to run a denied image in every way.
func expectPolicyEnforced(n *framework.Namespace, program string) {
	n.T.Helper()
	applyExample(n, program)
	awaitDenial(n)
	for _, attempt := range deniedAttempts {
		n.T.Run("denied: "+attempt.name, func(t *testing.T) {
			if complaint := attempt.run(n.In(t)); !strings.Contains(complaint, denial) {
				t.Errorf("the answer is %q", complaint)
			}
		})
	}
	for _, attempt := range allowedAttempts {
		n.T.Run("allowed: "+attempt.name, func(t *testing.T) {
			if complaint := attempt.run(n.In(t)); complaint != "" {
				t.Errorf("the answer is %q", complaint)
			}
		})
	}
	n.T.Run("allowed boxes become ready", func(t *testing.T) {
		for _, box := range []string{"web", "new", "shop-api"} {
			n.In(t).AwaitReady(box)
		}
	})
	n.T.Run("a box with a denied image is deleted", func(t *testing.T) {
		n.In(t).Eventually("it is gone", func() error {
			_, err := n.Boxes.Get(n.Ctx, "earlier", metav1.GetOptions{})
			return framework.CheckGone(err)
		})
	})
}

// expectMutations applies a policy that adds the label team=a to boxes, and lets the containers of Deployments share their processes.
func expectMutations(n *framework.Namespace, policies string) {
	n.T.Helper()
	administrate(n, policies, "create", "--filename=-")
	n.Eventually("the policies take effect", func() error {
		trial := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		box, err := n.Boxes.Create(n.Ctx, framework.NewBox("trial", framework.WithImage(allowedImage)), trial)
		if err != nil || box.Labels["team"] != "a" {
			return fmt.Errorf("creating a box gives it the labels %v: %v", box.GetLabels(), err)
		}
		deployment, err := n.Deployments.Create(n.Ctx, framework.ForeignDeployment("trial"), trial)
		if err != nil || !ptr.Deref(deployment.Spec.Template.Spec.ShareProcessNamespace, false) {
			return fmt.Errorf("creating a Deployment: %v", err)
		}
		return nil
	})
	n.T.Run("a policy that changes boxes", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.RunWithInput(newBox("image: "+allowedImage), "apply", "--filename=-")
		framework.ExpectEqual(t, "labels of the box", "a", n.GetBox("new").Labels["team"])
	})
	n.T.Run("a policy that changes a field of children that the box does not set", func(t *testing.T) {
		n := n.In(t)
		n.CreateReadyBox(framework.NewBox("indifferent", framework.WithImage(allowedImage)))
		framework.ExpectEqual(t, "shareProcessNamespace", ptr.To(true), n.GetDeployment("indifferent").Spec.Template.Spec.ShareProcessNamespace)
		n.ExpectConverged("indifferent")
	})
	n.T.Run("a policy that changes a field of children that the box sets", func(t *testing.T) {
		n := n.In(t)
		own := framework.WithPodTemplate(corev1.PodSpec{ShareProcessNamespace: ptr.To(false)})
		n.CreateBox(framework.NewBox("strict", framework.WithImage(allowedImage), own))
		n.AwaitBox("strict", "says that its field was changed", func(box *modelv1.ModelBox) error {
			applied := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied)
			if applied == nil || applied.Reason != modelv1.ReasonRejected || !strings.Contains(applied.Message, "shareProcessNamespace") {
				return fmt.Errorf("its condition Applied is %v", applied)
			}
			return nil
		})
	})
}

// createEarlierBoxes creates boxes before there is a policy: "earlier" with a denied image, and "web", whose first revision has it.
func createEarlierBoxes(n *framework.Namespace) {
	n.CreateReadyBox(framework.NewBox("earlier", framework.WithImage(deniedImage)))
	n.CreateReadyBox(framework.NewBox("web", framework.WithImage(deniedImage)))
	n.UpdateBox("web", framework.WithImage(allowedImage))
	n.AwaitReady("web")
}

// applyExample applies the documents of an example one by one, because one may define the kind of the next.
func applyExample(n *framework.Namespace, program string) {
	n.T.Helper()
	example := readFile(n.T, framework.InRepository("artifacts", "examples", "policies", program+".yaml"))
	for document := range strings.SplitSeq(example, "\n---\n") {
		awaitApplied(n, document)
	}
}

// awaitDenial waits until a policy denies boxes with a denied image.
func awaitDenial(n *framework.Namespace) {
	n.T.Helper()
	n.Eventually("the policy takes effect", func() error {
		trial := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		_, err := n.Boxes.Create(n.Ctx, framework.NewBox("trial", framework.WithImage(deniedImage)), trial)
		if err == nil || !strings.Contains(err.Error(), denial) {
			return fmt.Errorf("creating a box: %v", err)
		}
		return nil
	})
}

// attempt is a request that a policy may deny. run returns the complaint, "" if the request succeeds.
type attempt struct {
	name string
	run  func(n *framework.Namespace) string
}

var deniedAttempts = []attempt{
	{"create", kubectl(newBox("image: "+deniedImage), "create", "--filename=-")},
	{"apply", kubectl(newBox("image: "+deniedImage), "apply", "--filename=-")},
	{"server-side apply", kubectl(newBox("image: "+deniedImage), "apply", "--server-side", "--filename=-")},
	{"a sidecar", kubectl(newBox("image: "+allowedImage+", containers: [{name: side, image: "+deniedImage+"}]"), "create", "--filename=-")},
	{"an init container", kubectl(newBox("image: "+allowedImage+", initContainers: [{name: init, image: "+deniedImage+"}]"), "create", "--filename=-")},
	{"a container of the pod template", kubectl(newBox("image: "+allowedImage+", podTemplate: {spec: {containers: [{name: side, image: "+deniedImage+"}]}}"), "create", "--filename=-")},
	{"a stack", kubectl(newStack(deniedImage), "create", "--filename=-")},
	{"replace", kubectl(framework.Manifest("image: "+deniedImage), "replace", "--filename=-")},
	{"strategic merge patch", kubectl("", "patch", "mb", "web", `--patch={"spec":{"image":"`+deniedImage+`"}}`)},
	{"JSON patch", kubectl("", "patch", "mb", "web", "--type=json", `--patch=[{"op":"replace","path":"/spec/image","value":"`+deniedImage+`"}]`)},
	{"rollback to a denied image", func(n *framework.Namespace) string {
		rollback := &modelv1.ModelBoxRollback{ObjectMeta: metav1.ObjectMeta{Name: "web"}, ToRevision: 1}
		_, err := n.Boxes.CreateRollback(n.Ctx, "web", rollback, metav1.CreateOptions{})
		return complaintOf(err)
	}},
	{"restart a box with a denied image", func(n *framework.Namespace) string {
		restart := &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "earlier"}}
		_, err := n.Boxes.CreateRestart(n.Ctx, "earlier", restart, metav1.CreateOptions{})
		return complaintOf(err)
	}},
}

var allowedAttempts = []attempt{
	{"create", kubectl(newBox("image: "+allowedImage), "create", "--filename=-")},
	{"create a stack", kubectl(newStack(allowedImage), "create", "--filename=-")},
	{"scale", kubectl("", "scale", "mb", "web", "--replicas=2")},
	{"scale a box with a denied image", kubectl("", "scale", "mb", "earlier", "--replicas=2")},
	{"label a box with a denied image", kubectl("", "label", "mb", "earlier", "team=a")},
	{"delete a box with a denied image", kubectl("", "delete", "mb", "earlier", "--cascade=foreground", "--wait=false")},
}

func newBox(spec string) string { return framework.BoxManifest("new", spec) }

func newStack(image string) string { return stackManifest("shop", "image: "+image) }

// kubectl returns the run of an attempt with kubectl.
func kubectl(stdin string, arguments ...string) func(*framework.Namespace) string {
	return func(n *framework.Namespace) string {
		result := framework.RunKubectl(n.Kubectl.Command(arguments...), stdin)
		if result.Err == nil {
			return ""
		}
		return result.Stderr
	}
}

func complaintOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
