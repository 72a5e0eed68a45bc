// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// chainVariable is the environment variable with the number of components of the chain, such as 300.
	chainVariable = "MODELBOX_E2E_CHAIN"
	shortChain    = 20
	// stacksVariable is the environment variable with the number of stacks of componentsOfMany components, such as 200.
	stacksVariable   = "MODELBOX_E2E_STACKS"
	fewStacks        = 5
	componentsOfMany = 12
	stackWriters     = 8
)

// TestChainIsWrittenOnce creates a chain of many components. With chainVariable, it compares the cost of the chain with the same boxes,
// each of which is created after the former one is Ready.
func TestChainIsWrittenOnce(t *testing.T) {
	t.Parallel()
	length := framework.Setting(t, chainVariable, shortChain, strconv.Atoi)
	components := make([]modelv1.ModelStackComponent, 0, length)
	for i := range length {
		if i == 0 {
			components = append(components, component(chainName(i)))
		} else {
			components = append(components, component(chainName(i), chainName(i-1)))
		}
	}
	m := newMeter(t)
	if os.Getenv(chainVariable) != "" {
		m.measure(t, "boxes without a stack", func(n *framework.Namespace) int {
			for i := range components {
				n.CreateReadyBox(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: components[i].Name}, Spec: *components[i].Box})
			}
			return length
		})
	}
	m.measure(t, "in a stack", func(n *framework.Namespace) int {
		awaitReadyStacks(createStackIn(n, components...).Namespace, 1, length)
		return length
	})
}

func chainName(i int) string { return fmt.Sprintf("link-%d", i) }

// TestManyStacksAreWrittenOnce creates many stacks at once. With stacksVariable, it compares their cost with the same boxes.
func TestManyStacksAreWrittenOnce(t *testing.T) {
	t.Parallel()
	count := framework.Setting(t, stacksVariable, fewStacks, strconv.Atoi)
	boxes := count * componentsOfMany
	m := newMeter(t)
	if os.Getenv(stacksVariable) != "" {
		m.measure(t, "boxes without a stack", func(n *framework.Namespace) int {
			concurrently(boxes, func(i int) {
				box := component(fmt.Sprintf("box-%d", i)).Box
				if _, err := n.Boxes.Create(n.Ctx, &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("box-%d", i)}, Spec: *box}, metav1.CreateOptions{}); err != nil {
					n.T.Errorf("creating box %d: %v", i, err)
				}
			})
			awaitReadyBoxes(n, boxes)
			return boxes
		})
	}
	m.measure(t, "in stacks", func(n *framework.Namespace) int {
		concurrently(count, func(i int) {
			stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stack-%d", i)}}
			stack.Spec.Components = layers()
			if _, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Create(n.Ctx, stack, metav1.CreateOptions{}); err != nil {
				n.T.Errorf("creating stack %d: %v", i, err)
			}
		})
		awaitReadyStacks(n, count, boxes)
		return boxes
	})
}

// layers returns components in three layers. Each component depends on all components of the layer below.
func layers() []modelv1.ModelStackComponent {
	const layer = componentsOfMany / 3
	var components []modelv1.ModelStackComponent
	for i := range componentsOfMany {
		var below []string
		for j := i/layer*layer - layer; j >= 0 && j < i/layer*layer; j++ {
			below = append(below, components[j].Name)
		}
		made := component(fmt.Sprintf("part-%d", i), below...)
		made.BoxName = ""
		components = append(components, made)
	}
	return components
}

// concurrently calls do for each number below count, a few concurrently.
func concurrently(count int, do func(i int)) {
	var running sync.WaitGroup
	for writer := range stackWriters {
		running.Go(func() {
			for i := writer; i < count; i += stackWriters {
				do(i)
			}
		})
	}
	running.Wait()
}

// awaitReadyBoxes waits until the number of boxes exists and all are Ready.
func awaitReadyBoxes(n *framework.Namespace, count int) {
	n.T.Helper()
	framework.Eventually(n.T, timeout(count), fmt.Sprintf("%d boxes are Ready", count), func() error {
		time.Sleep(time.Second) // reads have a cost as well
		boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{FieldSelector: "status.ready=true"})
		if err != nil {
			return err
		}
		if len(boxes.Items) != count {
			return fmt.Errorf("%d are", len(boxes.Items))
		}
		return nil
	})
}

// awaitReadyStacks waits until the number of stacks with the total number of components are Ready.
func awaitReadyStacks(n *framework.Namespace, count, components int) {
	n.T.Helper()
	framework.Eventually(n.T, timeout(components), fmt.Sprintf("%d stacks are Ready", count), func() error {
		time.Sleep(time.Second) // reads have a cost as well
		stacks, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).List(n.Ctx, metav1.ListOptions{FieldSelector: "status.ready=true"})
		if err != nil {
			return err
		}
		if len(stacks.Items) != count {
			return fmt.Errorf("%d are", len(stacks.Items))
		}
		return nil
	})
}

func timeout(components int) time.Duration {
	return framework.Patience + time.Duration(components)*time.Second
}

// cost is the cost of a server for boxes.
type cost struct {
	components             int
	seconds, cpu           float64
	memory                 float64
	childWrites, boxWrites int
	stackWrites            int
}

func (c cost) String() string {
	each := func(total int) float64 { return float64(total) / float64(c.components) }
	return fmt.Sprintf("%.1f s, %.1f s of CPU, %.0f MiB, for each component %.2f writes of children, %.2f of the box and %.2f of its stack",
		c.seconds, c.cpu, c.memory/(1<<20), each(c.childWrites), each(c.boxWrites), each(c.stackWrites))
}

// meter measures the cost of boxes for the server of a control plane.
type meter struct {
	plane *framework.ControlPlane
	// components is the number of all boxes in the control plane.
	components int
}

func newMeter(t *testing.T) *meter {
	t.Helper()
	return &meter{plane: framework.NewControlPlane(t, framework.ServerFlags("--modelbox-resync-period=10s")...)}
}

// measure logs the cost to start boxes. bring starts them and returns their number. The test fails if a child is written more than
// once, or if anything is written after all boxes are Ready, including resyncs.
func (m *meter) measure(t *testing.T, what string, bring func(*framework.Namespace) int) {
	t.Helper()
	t.Run(what, func(t *testing.T) { t.Logf("the cost: %s", m.measureIn(m.plane.NewNamespace(t), bring)) })
}

func (m *meter) measureIn(n *framework.Namespace, bring func(*framework.Namespace) int) cost {
	t := n.T
	t.Helper()
	begun, spent, resident := time.Now(), processMetric(n, "process_cpu_seconds_total"), processMetric(n, "process_resident_memory_bytes")
	made := cost{components: bring(n)}
	made.seconds = time.Since(begun).Seconds()
	made.cpu = processMetric(n, "process_cpu_seconds_total") - spent
	made.memory = processMetric(n, "process_resident_memory_bytes") - resident
	m.components += made.components

	time.Sleep(5 * time.Second) // for the last status writes of rollouts
	children, models := n.Audit.ClusterWrites(), n.Audit.BoxWrites()
	made.childWrites = len(children)
	written := map[string]int{}
	for _, write := range children {
		written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
	}
	for _, write := range models {
		if write.ObjectRef.Resource == "modelstacks" {
			made.stackWrites++
			continue
		}
		made.boxWrites++
		if write.ObjectRef.Subresource == "" {
			written[write.Verb+" "+write.ObjectRef.Resource+" "+write.ObjectRef.Name]++
		}
	}
	for write, times := range written {
		if times > 1 && !strings.HasPrefix(write, "create modelboxes ") { // the names of boxes without a stack are not known there
			t.Errorf("%d times: %s", times, write)
		}
	}
	reconciles := reconcileCount(n)
	framework.Eventually(t, timeout(m.components), "the server has looked at everything again", func() error {
		if now := reconcileCount(n); now < reconciles+2*float64(m.components) {
			return fmt.Errorf("it has looked %.0f times", now-reconciles)
		}
		return nil
	})
	for _, write := range append(n.Audit.ClusterWrites()[len(children):], n.Audit.BoxWrites()[len(models):]...) {
		t.Errorf("a write although nothing happened: %s %s", write.Verb, write.RequestURI)
	}
	return made
}

func processMetric(n *framework.Namespace, name string) float64 {
	n.T.Helper()
	return framework.Sum(framework.Scrape(n.T, n.ControlPlane.DirectClient(n.T)), name, nil)
}

func reconcileCount(n *framework.Namespace) float64 {
	n.T.Helper()
	return processMetric(n, "modelbox_controller_reconcile_duration_seconds_count")
}
