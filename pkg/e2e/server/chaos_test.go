// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// chaosVariable is the environment variable with the duration of the chaos, such as 10m.
	chaosVariable = "MODELBOX_E2E_CHAOS"
	shortChaos    = 20 * time.Second

	chaosBoxes = 30
	// The first boxes are treasured: users write notes on their children, and do not delete them.
	treasuredBoxes = 10

	// The number of edits of a field is limited: if users change the same field of a child too often, the controller delays its
	// restoration. Another test covers that.
	editsOfAField = 3
)

// chaos has the actions of the users.
type chaos struct {
	*framework.Namespace

	mu sync.Mutex
	// edits counts the edits of each field of each child.
	edits map[string]int
	// notes has the annotations that must exist at the end, by child and name.
	notes map[string]map[string]string
	// done counts the successful actions by kind.
	done map[string]int
	// missed has the times since which ReplicaSets are known to have no Deployment.
	missed map[types.UID]time.Time
}

// TestChaosConverges changes and deletes children, and changes, deletes and creates boxes, while the server and kube-apiserver are
// killed. In its long form, boxes and stacks also get updates to impossible specs. At the end, all children match their boxes, no
// box with a possible spec is stuck, and no object of other users is lost. The test has a separate control plane, because it kills
// components that other tests share.
func TestChaosConverges(t *testing.T) {
	t.Parallel()
	n := framework.NewControlPlane(t).NewNamespace(t)
	c := &chaos{Namespace: n, edits: map[string]int{}, notes: map[string]map[string]string{}, done: map[string]int{}, missed: map[types.UID]time.Time{}}
	bystanders := c.createBystanders()
	for i := range chaosBoxes {
		n.CreateBox(chaosBox(i))
	}

	length, seed := framework.Setting(t, chaosVariable, shortChaos, time.ParseDuration), rand.Uint64()
	t.Logf("%s of chaos, seed %d", length, seed)
	updates := newBadUpdates(n, length > shortChaos)
	ctx, stop := context.WithTimeout(n.Ctx, length)
	defer stop()
	var actors sync.WaitGroup
	for i := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, i))
		actors.Go(func() { c.act(ctx, random, c.editChild) })
		actors.Go(func() { c.act(ctx, random, c.changeBox) })
	}
	if updates != nil {
		actors.Go(func() { c.act(ctx, rand.New(rand.NewPCG(seed, chaosBoxes)), updates.update) })
	}
	readings := newReadinessReader(n)
	actors.Go(func() { readings.read(ctx) })
	disruptions := c.disrupt(ctx, max(length/8, 5*time.Second))
	actors.Wait()
	t.Logf("%d disruptions, and what was done: %v", disruptions, c.done)
	readings.expectTruth()
	if updates != nil {
		updates.putRight()
	}
	// A simulated node does not retry a request that was cut off when kube-apiserver died, and pods would wait for it forever.
	c.ControlPlane.SignalProcess(t, "kwok", syscall.SIGKILL)

	framework.Eventually(t, framework.CollectorPatience, "all is as the boxes say", func() error {
		if err := c.removeMissedReplicaSets(); err != nil {
			return err
		}
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range boxes.Items {
			if err := c.isAsItSays(&boxes.Items[i]); err != nil {
				return fmt.Errorf("box %s: %w", boxes.Items[i].Name, err)
			}
		}
		if updates != nil {
			return updates.checkStacks()
		}
		return nil
	})
	if updates != nil {
		updates.expectClaims()
	}
	c.expectNotes()
	c.expectUntouchedBystanders(bystanders)
}

// removeMissedReplicaSets removes the ReplicaSets that the garbage collector misses. If a Deployment is deleted and created again
// while the garbage collector cannot watch kube-apiserver, the garbage collector treats that as an update, because it does not
// compare UIDs. The ReplicaSets of the first Deployment then remain forever.
func (c *chaos) removeMissedReplicaSets() error {
	deployments, err := c.Deployments.List(c.Ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	exist := sets.New[types.UID]()
	for i := range deployments.Items {
		exist.Insert(deployments.Items[i].UID)
	}
	replicaSets := c.ControlPlane.KubeClient.AppsV1().ReplicaSets(c.Name)
	list, err := replicaSets.List(c.Ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		set := &list.Items[i]
		owner := metav1.GetControllerOf(set)
		if owner == nil || owner.Kind != "Deployment" || exist.Has(owner.UID) || set.DeletionTimestamp != nil {
			continue
		}
		since, isKnown := c.missed[set.UID]
		if !isKnown {
			c.missed[set.UID] = time.Now()
		}
		if !isKnown || time.Since(since) < framework.Patience {
			continue
		}
		c.T.Logf("ReplicaSet %s is not collected", set.Name)
		background := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
		if err := replicaSets.Delete(c.Ctx, set.Name, background); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func chaosBox(i int) *modelv1.ModelBox {
	box := framework.NewBox(fmt.Sprintf("chaos-%d", i))
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	return box
}

// act repeatedly calls do. It does not count actions that fail because a server is down or because of a conflict.
func (c *chaos) act(ctx context.Context, random *rand.Rand, do func(context.Context, *rand.Rand) (string, error)) {
	for ctx.Err() == nil {
		if what, err := do(ctx, random); err == nil {
			c.mu.Lock()
			c.done[what]++
			c.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.IntN(int(300 * time.Millisecond)))):
		}
	}
}

// editChild changes or deletes a child of a box, like a user who does not know the box.
func (c *chaos) editChild(ctx context.Context, random *rand.Rand) (string, error) {
	i := random.IntN(chaosBoxes)
	name := fmt.Sprintf("chaos-%d", i)
	edits := chaosEdits
	if i < treasuredBoxes { // other boxes become headless, and can then not adopt a Service with a clusterIP
		edits = append(slices.Clip(edits), edit{"services", "owner", `[{"op": "remove", "path": "/metadata/ownerReferences"}]`})
	}
	switch what := random.IntN(len(edits) + 4); {
	case what < len(edits):
		edit := edits[what]
		if !c.mayEdit(name, edit.resource, edit.field) {
			return "", errNotDone
		}
		return "edited " + edit.field, c.patch(ctx, edit.resource, name, types.JSONPatchType, edit.patch)
	case what == len(edits):
		resource := []string{"deployments", "services"}[random.IntN(2)]
		return "noted", c.note(ctx, resource, fmt.Sprintf("chaos-%d", random.IntN(treasuredBoxes)), random)
	case what == len(edits)+1:
		return "deleted pods", c.Pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name})
	case i < treasuredBoxes:
		return "", errNotDone
	case what == len(edits)+2:
		return "deleted Deployment", c.Deployments.Delete(ctx, name, metav1.DeleteOptions{})
	default:
		return "deleted Service", c.Services.Delete(ctx, name, metav1.DeleteOptions{})
	}
}

var errNotDone = fmt.Errorf("not done")

func (c *chaos) mayEdit(name, resource, field string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := resource + "/" + name + "/" + field
	c.edits[key]++
	return c.edits[key] <= editsOfAField
}

// note writes an annotation on a child, and records it after the acknowledgement.
func (c *chaos) note(ctx context.Context, resource, name string, random *rand.Rand) error {
	key, value := fmt.Sprintf("example.com/note-%d", random.IntN(3)), fmt.Sprint(random.IntN(1000))
	// Write one at a time, so that the test knows the last one.
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.patch(ctx, resource, name, types.MergePatchType, fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, key, value)); err != nil {
		return err
	}
	child := resource + "/" + name
	if c.notes[child] == nil {
		c.notes[child] = map[string]string{}
	}
	c.notes[child][key] = value
	return nil
}

func (c *chaos) patch(ctx context.Context, resource, name string, patchType types.PatchType, patch string) error {
	options := metav1.PatchOptions{FieldManager: framework.OtherManager}
	var err error
	switch resource {
	case "deployments":
		_, err = c.Deployments.Patch(ctx, name, patchType, []byte(patch), options)
	default:
		_, err = c.Services.Patch(ctx, name, patchType, []byte(patch), options)
	}
	return err
}

// changeBox changes the spec of a box, or replaces the box.
func (c *chaos) changeBox(ctx context.Context, random *rand.Rand) (string, error) {
	i := random.IntN(chaosBoxes)
	if i >= treasuredBoxes && random.IntN(10) == 0 {
		if err := c.Boxes.Delete(ctx, chaosBox(i).Name, metav1.DeleteOptions{}); err != nil {
			return "", err
		}
		return "put another box in the place of one", c.createAgain(chaosBox(i))
	}
	box, err := c.Boxes.Get(ctx, chaosBox(i).Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	spec := &box.Spec
	switch random.IntN(5) {
	case 0:
		spec.Image = fmt.Sprintf("nginx:%d", random.IntN(5))
	case 1:
		replicas := random.Int32N(4)
		spec.Replicas = &replicas
	case 2:
		spec.Envs = []corev1.EnvVar{{Name: fmt.Sprintf("V%d", random.IntN(3)), Value: fmt.Sprint(random.IntN(3))}}
	case 3:
		spec.Ports = []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81 + random.Int32N(3)}}
		if i >= treasuredBoxes {
			spec.Ports = spec.Ports[:random.IntN(3)]
		}
	default:
		spec.ServiceType = modelv1.ServiceTypeLoadBalancer
		if i >= treasuredBoxes {
			spec.ServiceType = []modelv1.ServiceType{modelv1.ServiceTypeHeadless, modelv1.ServiceTypeClusterIP}[random.IntN(2)]
		}
	}
	_, err = c.Boxes.Update(ctx, box, metav1.UpdateOptions{})
	return "changed a box", err
}

// createAgain retries until it succeeds, so that the number of boxes does not decrease.
func (c *chaos) createAgain(box *modelv1.ModelBox) error {
	for {
		_, err := c.Boxes.Create(c.Ctx, box, metav1.CreateOptions{})
		if err == nil || c.Ctx.Err() != nil {
			return err
		}
		if _, err := c.Boxes.Get(c.Ctx, box.Name, metav1.GetOptions{}); err == nil {
			return nil // it was created, and the response was lost
		}
		time.Sleep(framework.PollInterval)
	}
}

// disrupt kills a server once a period. It returns the number of kills.
func (c *chaos) disrupt(ctx context.Context, period time.Duration) int {
	disruptions := []struct {
		process string
		signal  syscall.Signal
	}{
		{"modelbox-apiserver", syscall.SIGKILL},
		{"kube-apiserver", syscall.SIGKILL},
		{"modelbox-apiserver", syscall.SIGTERM},
	}
	count := 0
	for {
		select {
		case <-ctx.Done():
			return count
		case <-time.After(period):
		}
		disruption := disruptions[count%len(disruptions)]
		count++
		c.ControlPlane.SignalProcess(c.T, disruption.process, disruption.signal)
	}
}

// isAsItSays returns nil if the children of a box match its render, and applying them again would not change them.
func (c *chaos) isAsItSays(box *modelv1.ModelBox) error {
	rendered, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		return err
	}
	for _, child := range rendered {
		if err := c.CheckRendered(child); err != nil {
			return err
		}
	}
	if len(box.Spec.Ports) == 0 {
		_, err := c.Services.Get(c.Ctx, box.Name, metav1.GetOptions{})
		if err := framework.CheckGone(err); err != nil {
			return fmt.Errorf("its Service: %w", err)
		}
	}
	if box.Spec.ServiceType == modelv1.ServiceTypeLoadBalancer {
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonLoadBalancerPending)
	}
	return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
}

func (c *chaos) expectNotes() {
	c.T.Helper()
	for i := range treasuredBoxes {
		name := chaosBox(i).Name
		for child, annotations := range map[string]map[string]string{
			"deployments/" + name: c.GetDeployment(name).Annotations,
			"services/" + name:    c.GetService(name).Annotations,
		} {
			for key, value := range c.notes[child] {
				framework.ExpectEqual(c.T, child+": note "+key, value, annotations[key])
			}
		}
	}
}

// createBystanders creates workloads of other users, which the server must not change. One of them has the label of a box.
func (c *chaos) createBystanders() []metav1.Object {
	c.T.Helper()
	var bystanders []metav1.Object
	for i := range 2 {
		deployment, service := framework.ForeignDeployment(fmt.Sprintf("bystander-%d", i)), framework.ForeignService(fmt.Sprintf("bystander-%d", i))
		if i == 0 {
			deployment.Labels[render.ManagedByLabel] = render.ManagedBy
			service.Labels = map[string]string{render.ManagedByLabel: render.ManagedBy}
		}
		created, err := c.Deployments.Create(c.Ctx, deployment, metav1.CreateOptions{})
		if err != nil {
			c.T.Fatal(err)
		}
		createdService, err := c.Services.Create(c.Ctx, service, metav1.CreateOptions{})
		if err != nil {
			c.T.Fatal(err)
		}
		bystanders = append(bystanders, created, createdService)
	}
	return bystanders
}

func (c *chaos) expectUntouchedBystanders(bystanders []metav1.Object) {
	c.T.Helper()
	for _, before := range bystanders {
		var now metav1.Object
		switch before.(type) {
		case *corev1.Service:
			now = c.GetService(before.GetName())
		default:
			now = c.GetDeployment(before.GetName())
		}
		framework.ExpectEqual(c.T, before.GetName()+": UID", before.GetUID(), now.GetUID())
		framework.ExpectEqual(c.T, before.GetName()+": generation", before.GetGeneration(), now.GetGeneration())
	}
}
