// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func newDeployment(box *modelv1.ModelBox) *appsv1.Deployment {
	labels := map[string]string{modelv1.SelectorLabel: box.Name}
	main := corev1.Container{
		Name: box.Spec.Name, Image: box.Spec.Image, Command: box.Spec.Command, Args: box.Spec.Args,
		Env: box.Spec.Envs, EnvFrom: box.Spec.EnvFrom, VolumeMounts: box.Spec.VolumeMounts,
		ReadinessProbe: box.Spec.ReadinessProbe, LivenessProbe: box.Spec.LivenessProbe, StartupProbe: box.Spec.StartupProbe,
	}
	if box.Spec.Resources != nil {
		main.Resources = *box.Spec.Resources
	}
	for _, port := range box.Spec.Ports {
		main.Ports = append(main.Ports, corev1.ContainerPort{Name: port.Name, ContainerPort: port.TargetPort.IntVal, Protocol: port.Protocol})
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: box.Namespace, Name: box.Name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: box.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: box.Spec.InitContainers,
					Containers:     append([]corev1.Container{main}, box.Spec.Containers...),
					Volumes:        box.Spec.Volumes,
				},
			},
		},
	}
}

func newService(box *modelv1.ModelBox) *corev1.Service {
	labels := map[string]string{modelv1.SelectorLabel: box.Name}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: box.Namespace, Name: box.Name, Labels: labels},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: box.Spec.Ports},
	}
}
