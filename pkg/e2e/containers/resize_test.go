// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// withLimits sets the limits of the main container.
func withLimits(cpu, memory string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		}
	}
}

// podsAreResizedInPlace changes CPU and memory under requests: containers keep running, with other values of their control groups, and
// no request may be lost. A pod that is larger than its node keeps what it has.
func podsAreResizedInPlace(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web", checkedOften, framework.WithReplicas(3), withLimits("500m", "64Mi"), func(spec *modelv1.ModelBoxSpec) {
		spec.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOnly}
		spec.Envs = []corev1.EnvVar{{Name: "NAME", Value: "web"}}
	}))
	awaitAnswer(n, "web", "/environment/NAME")
	before := n.PodUIDs("web")
	expectMemoryLimits(n, "64Mi")
	traffic := startTraffic(n.T, &http.Transport{}, nodePortURL(n, "web", 80)+"/environment/NAME")
	traffic.measure(n, 50)

	n.UpdateBox("web", withLimits("1", "128Mi"))
	n.Events.Await("web", "Resized", "3 pods")
	n.AwaitReady("web")
	expectMemoryLimits(n, "128Mi")

	n.UpdateBox("web", withLimits("1", "96Mi"))
	n.AwaitResized("web")
	expectMemoryLimits(n, "96Mi")

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		withLimits("1", "96Mi")(spec)
		spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1000")
		spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1000")
	})
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonResizeInfeasible, "cpu")
	n.UpdateBox("web", withLimits("1", "64Mi"))
	n.AwaitResized("web")
	expectMemoryLimits(n, "64Mi")

	traffic.measure(n, 50)
	framework.ExpectEqual(n.T, "pods", before, n.PodUIDs("web"))
	framework.ExpectEqual(n.T, "restarts", int32(0), restartsOf(n, "web"))
	traffic.expectNoneLost(n, "web")
}

// podsOfStatefulSetAreResizedInPlace is podsAreResizedInPlace for pods that keep their names.
func podsOfStatefulSetAreResizedInPlace(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web", checkedOften, framework.WithWorkload(modelv1.WorkloadStatefulSet), framework.WithReplicas(2), withLimits("500m", "64Mi"), func(spec *modelv1.ModelBoxSpec) {
		spec.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOnly}
	}))
	before := n.PodUIDs("web")
	n.UpdateBox("web", withLimits("1", "128Mi"))
	n.AwaitResized("web")
	expectMemoryLimits(n, "128Mi")
	framework.ExpectEqual(n.T, "pods", before, n.PodUIDs("web"))
	framework.ExpectEqual(n.T, "restarts", int32(0), restartsOf(n, "web"))
	n.ExpectConverged("web")
}

// expectMemoryLimits checks the limit of memory of the control groups of all containers of the box.
func expectMemoryLimits(n *framework.Namespace, want string) {
	n.T.Helper()
	quantity := resource.MustParse(want)
	for name, uid := range n.PodUIDs("web") {
		limit, err := memoryLimitOf(string(uid))
		if err != nil {
			n.T.Fatalf("pod %s: %v", name, err)
		}
		framework.ExpectEqual(n.T, "limit of pod "+name, fmt.Sprint(quantity.Value()), limit)
	}
}

// memoryLimitOf returns the limit of memory of the control group of a pod, of either version.
func memoryLimitOf(podUID string) (limit string, err error) {
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // A control group has ended.
		}
		if err != nil || !entry.IsDir() || !strings.HasSuffix(entry.Name(), "pod"+podUID) {
			return err
		}
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if content, err := os.ReadFile(filepath.Join(path, file)); err == nil {
				limit = strings.TrimSpace(string(content))
				return fs.SkipAll
			}
		}
		return nil
	})
	if err == nil && limit == "" {
		err = errors.New("it has no control group with a limit of memory")
	}
	return limit, err
}
