// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// withConditions gives a box the conditions of its present generation, each as type, status, reason and message.
func withConditions(box *modelv1.ModelBox, conditions ...[4]string) *modelv1.ModelBox {
	box.Status.Conditions = nil
	for _, c := range conditions {
		box.Status.Conditions = append(box.Status.Conditions, metav1.Condition{
			Type: c[0], Status: metav1.ConditionStatus(c[1]), Reason: c[2], Message: c[3], ObservedGeneration: box.Generation,
		})
	}
	return box
}

func TestRolloutStatus(t *testing.T) {
	progressing := withConditions(newFrontBox("progressing"), [4]string{"Applied", "True", "Applied"},
		[4]string{"Ready", "False", "Progressing", "1 out of 3 new replicas have been updated"},
		[4]string{"Progressing", "True", "Progressing", "1 out of 3 new replicas have been updated"})
	pulling := withConditions(newBox("pulling"), [4]string{"Applied", "True", "Applied"},
		[4]string{"Ready", "False", "ImagePullBackOff", "pod pulling-1: Back-off\npulling image"},
		[4]string{"Progressing", "True", "Progressing", "1 out of 3 new replicas have been updated"})
	balanced := withConditions(newBox("balanced"), [4]string{"Applied", "True", "Applied"}, [4]string{"Ready", "False", "LoadBalancerPending", "it has no address"},
		[4]string{"Progressing", "False", "RolloutComplete", "1 of 1 replicas are available"})
	unapplied := withConditions(newBox("unapplied"), [4]string{"Applied", "False", "QuotaExceeded", "no Deployment"},
		[4]string{"Ready", "False", "QuotaExceeded", "no Deployment"}, [4]string{"Progressing", "False", "RolloutComplete", "1 of 1 replicas are available"})
	failed := withConditions(newBox("failed"), [4]string{"Applied", "True", "Applied"}, [4]string{"Ready", "False", "RolledBack", "the rollout has failed: ErrImagePull"},
		[4]string{"Stalled", "True", "RolledBack", "the rollout has failed: ErrImagePull"}, [4]string{"Progressing", "False", "RolledBack", "the rollout has failed: ErrImagePull"})
	paused := withConditions(newBox("paused"), [4]string{"Ready", "False", "Paused", "the box is paused; not up to date: Deployment"})
	shop := newStack()
	shop.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Progressing", Message: "1 of 3 components are ready"}}
	shop.Status.Components = []modelv1.ModelStackComponentStatus{
		{Name: "mail", State: modelv1.ComponentReady},
		{Name: "db", State: modelv1.ComponentProgressing, Reason: "Progressing", Message: "0 of 1 pods are available"},
		{Name: "web", State: modelv1.ComponentWaiting, WaitingFor: []string{"db"}},
	}
	history := newHistory("web")
	ofWeb := []string{"GET modelboxes/web/history"}
	const waiting = `Waiting for modelbox "progressing" rollout to finish: 1 out of 3 new replicas have been updated...`
	runAll(t, []commandTest{
		{name: "a rollout that is complete", arguments: []string{"rollout", "status", "web"}, output: []string{`modelbox "web" successfully rolled out`}},
		{
			name: "a rollout that is complete, of a box that is not ready for something else", arguments: []string{"rollout", "status", "balanced"},
			output: []string{`modelbox "balanced" successfully rolled out`},
		},
		{
			name: "a rollout in progress, once", arguments: []string{"rollout", "status", "progressing", "--watch=false"}, output: []string{waiting},
		},
		{
			name: "a rollout in progress, of pods that fail", arguments: []string{"rollout", "status", "pulling", "-w=false"},
			output: []string{
				`Waiting for modelbox "pulling" rollout to finish: 1 out of 3 new replicas have been updated; ImagePullBackOff: pod pulling-1: Back-off pulling image...`,
			},
		},
		{
			name: "a change that is not applied", arguments: []string{"rollout", "status", "unapplied", "--watch=false"},
			output: []string{`Waiting for modelbox "unapplied" rollout to finish: QuotaExceeded: no Deployment...`},
		},
		{
			name: "a timeout", arguments: []string{"rollout", "status", "progressing", "--timeout=1ms"}, output: []string{waiting},
			fails: `timed out waiting for the rollout of modelbox "progressing": Progressing: 1 out of 3`,
		},
		{
			name: "a rollout that has failed", arguments: []string{"rollout", "status", "failed"},
			output: []string{`Waiting for modelbox "failed" rollout to finish: RolledBack: the rollout has failed: ErrImagePull...`},
			fails:  `modelbox "failed" rollout will not complete: RolledBack: the rollout has failed: ErrImagePull`,
		},
		{
			name: "a box that is paused", arguments: []string{"rollout", "status", "paused"}, fails: `modelbox "paused" rollout will not complete: Paused`,
			output: []string{`Waiting for modelbox "paused" rollout to finish: Paused: the box is paused; not up to date: Deployment...`},
		},
		{
			name: "a stack", arguments: []string{"rollout", "status", "mst/shop", "--watch=false"},
			output: []string{
				`Waiting for modelstack "shop" rollout to finish: component db: 0 of 1 pods are available...`,
				`Waiting for modelstack "shop" rollout to finish: component web: Waiting: for db...`,
			},
		},
		{
			name: "several, of which one is not found", arguments: []string{"rollout", "status", "nope", "web", "failed"},
			output: []string{
				`modelbox "web" successfully rolled out`, `Waiting for modelbox "failed" rollout to finish: RolledBack: the rollout has failed: ErrImagePull...`,
			},
			fails: `"nope" not found, modelbox "failed" rollout will not complete`,
		},
		{name: "boxes with a label", arguments: []string{"rollout", "status", "-l", "tier=front", "--watch=false"}, output: []string{waiting}},
		{name: "the newest revision", arguments: []string{"rollout", "status", "web", "--revision=1"}, output: []string{`modelbox "web" successfully rolled out`}, requests: ofWeb},
		{
			name: "a revision that is not the newest", arguments: []string{"rollout", "status", "web", "--revision=2"}, requests: ofWeb,
			fails: "desired revision (2) is different from the running revision (1)",
		},
		{name: "a revision below zero", arguments: []string{"rollout", "status", "web", "--revision=-1"}, fails: "--revision must be"},
		{name: "a revision of a stack", arguments: []string{"rollout", "status", "mst/shop", "--revision=1"}, fails: "--revision is only valid for boxes"},
		{name: "nothing", arguments: []string{"rollout", "status"}, fails: "must be specified"},
	}, stored(newBox("web"), progressing, pulling, balanced, unapplied, failed, paused, shop), map[string]runtime.Object{"GET modelboxes/web/history": history})
}

// TestRolloutCommands expects the commands of kubectl, each with its meaning in the plugin.
func TestRolloutCommands(t *testing.T) {
	web := newBox("web")
	web.Spec.Paused = true
	const body = `?fieldManager=kubectl-modelbox {"apiVersion":"model.github.com/v1","kind":`
	rolledBack := &modelv1.ModelBoxRollback{TypeMeta: metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxRollback"}}
	runAll(t, []commandTest{
		{
			name: "undo", arguments: []string{"rollout", "undo", "web"}, output: []string{"modelbox.model.github.com/web rolled back"},
			requests: []string{"POST modelboxes/web/rollback" + body + `"ModelBoxRollback"}`},
		},
		{
			name: "restart", arguments: []string{"rollout", "restart", "web"}, output: []string{"modelbox.model.github.com/web restarted"},
			requests: []string{"POST modelboxes/web/restart" + body + `"ModelBoxRestart"}`},
		},
		{
			name: "retry", arguments: []string{"rollout", "retry", "web"}, output: []string{"modelbox.model.github.com/web retried"},
			requests: []string{"POST modelboxes/web/retry" + body + `"ModelBoxRetry"}`},
		},
		{
			name: "history", arguments: []string{"rollout", "history", "web", "-o", "name"}, output: []string{"modelbox.model.github.com/web"},
			requests: []string{"GET modelboxes/web/history"},
		},
		{
			name: "resume", arguments: []string{"rollout", "resume", "web"}, output: []string{"modelbox.model.github.com/web resumed"},
			requests: []string{`PATCH modelboxes/web?fieldManager=kubectl-rollout strategic-merge-patch+json {"spec":{"paused":null}}`},
		},
		{name: "pause", arguments: []string{"rollout", "pause", "web"}, fails: "is already paused"},
	}, stored(web), map[string]runtime.Object{
		"POST modelboxes/web/rollback": rolledBack, "POST modelboxes/web/restart": rolledBack, "POST modelboxes/web/retry": rolledBack,
		"GET modelboxes/web/history": newHistory("web"), "PATCH modelboxes/web": web,
	})
}
