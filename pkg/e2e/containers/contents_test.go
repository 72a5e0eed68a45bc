// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// resourceClassLimits checks that the cgroup of the container has the limits of the resource class.
func resourceClassLimits(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web", func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }))
	const memory, cpuQuota, cpuPeriod = "2147483648", "100000", "100000" // 2Gi, one CPU
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		expectAnswer(n, "web", "/files/sys/fs/cgroup/memory.max", memory)
		expectAnswer(n, "web", "/files/sys/fs/cgroup/cpu.max", cpuQuota+" "+cpuPeriod)
		return
	}
	expectAnswer(n, "web", "/files/sys/fs/cgroup/memory/memory.limit_in_bytes", memory)
	expectAnswer(n, "web", "/files/sys/fs/cgroup/cpu/cpu.cfs_quota_us", cpuQuota)
	expectAnswer(n, "web", "/files/sys/fs/cgroup/cpu/cpu.cfs_period_us", cpuPeriod)
}

// containersGetWhatTheyAreGiven checks the environment and the configuration, that init containers run sequentially before the main
// container, and that sidecars of both kinds run with it.
func containersGetWhatTheyAreGiven(n *framework.Namespace) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"greeting": "hello", "COLOUR": "blue"}}
	if _, err := n.ControlPlane.KubeClient.CoreV1().ConfigMaps(n.Name).Create(n.Ctx, config, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	reference := corev1.LocalObjectReference{Name: "config"}
	shared := []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
	helper := func(name string, args ...string) corev1.Container {
		return corev1.Container{Name: name, Image: appImage, Args: args, VolumeMounts: shared}
	}
	sidecar := helper("sidecar", "-port=8081")
	sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)

	n.CreateReadyBox(newAppBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Envs = []corev1.EnvVar{
			{Name: "WHO", Value: "world"},
			{Name: "GREETING", Value: "hello, $(WHO)"},
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		}
		spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: reference}}}
		spec.Volumes = []corev1.Volume{
			{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: reference}}},
		}
		spec.VolumeMounts = append(shared, corev1.VolumeMount{Name: "config", MountPath: "/etc/config", ReadOnly: true})
		spec.InitContainers = []corev1.Container{
			helper("first", "append", "/shared/order", "first"),
			sidecar,
			helper("second", "append", "/shared/order", "second"),
		}
		spec.Containers = []corev1.Container{helper("beside", "-port=8082")}
		spec.Ports = []corev1.ServicePort{{Name: "main", Port: 80}, {Name: "sidecar", Port: 8081}, {Name: "beside", Port: 8082}}
	}))

	pods, err := n.LivePods("web")
	if err != nil {
		n.T.Fatal(err)
	}
	for path, want := range map[string]string{
		"/environment/GREETING":      "hello, world",
		"/environment/COLOUR":        "blue",
		"/environment/POD":           pods[0].Name,
		"/files/etc/config/greeting": "hello",
		"/files/shared/order":        "first\nsecond",
	} {
		expectAnswer(n, "web", path, want)
	}
	for _, port := range []int32{8081, 8082} {
		n.Eventually(fmt.Sprintf("port %d answers", port), func() error {
			_, err := visit(http.MethodGet, nodePortURL(n, "web", port)+"/version")
			return err
		})
	}
}
