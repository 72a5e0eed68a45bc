// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Image is the first image of a box.
const Image = "registry.example.com/shop/web:1.4.2"

// New returns a box as applications have them, of some 1.5 KB as JSON, without pods.
func New(namespace, name string) *modelv1.ModelBox {
	return &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels:      map[string]string{"app.kubernetes.io/part-of": "shop", "team": "checkout"},
			Annotations: map[string]string{"example.com/contact": "checkout@example.com", "example.com/runbook": "https://runbooks.example.com/checkout/web"},
		},
		Spec: modelv1.ModelBoxSpec{
			Name:     "web",
			Image:    Image,
			Args:     []string{"--listen=:8080", "--log-format=json", "--shutdown-timeout=25s"},
			Replicas: ptr.To[int32](0),
			Ports: []corev1.ServicePort{
				{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080), Protocol: corev1.ProtocolTCP},
				{Name: "metrics", Port: 9090, TargetPort: intstr.FromInt32(9090), Protocol: corev1.ProtocolTCP},
			},
			Resources: &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
			},
			Envs: []corev1.EnvVar{
				{Name: "LOG_LEVEL", Value: "info"},
				{Name: "DATABASE_HOST", Value: "postgres.shop.svc"},
				{Name: "DATABASE_NAME", Value: "checkout"},
				{Name: "DATABASE_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "checkout-database"}, Key: "password",
				}}},
				{Name: "CACHE_ADDRESS", Value: "redis.shop.svc:6379"},
				{Name: "FEATURE_FLAGS", Value: "express-checkout,saved-carts"},
			},
			ReadinessProbe: httpProbe("/ready", 5),
			LivenessProbe:  httpProbe("/healthy", 10),
			Volumes:        []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			VolumeMounts:   []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
		},
	}
}

func httpProbe(path string, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(8080)}},
		PeriodSeconds: period, TimeoutSeconds: 2,
	}
}

// Converged returns the status that a controller has written when all is done for a box without pods.
func Converged(box *modelv1.ModelBox) modelv1.ModelBoxStatus {
	condition := func(name, status, reason, message string) metav1.Condition {
		return metav1.Condition{
			Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: message,
			ObservedGeneration: box.Generation, LastTransitionTime: metav1.Now(),
		}
	}
	return modelv1.ModelBoxStatus{
		ObservedGeneration: box.Generation,
		DesiredReplicas:    box.Spec.Replicas,
		Selector:           modelv1.SelectorLabel + "=" + box.Name,
		Address:            fmt.Sprintf("%s.%s.svc:80", box.Name, box.Namespace),
		Conditions: []metav1.Condition{
			condition(modelv1.ConditionReady, "True", modelv1.ReasonStopped, "the box is stopped: replicas is 0"),
			condition(modelv1.ConditionAvailable, "True", modelv1.ReasonStopped, "no pods are asked for"),
			condition(modelv1.ConditionProgressing, "False", modelv1.ReasonRolloutComplete, "the rollout is complete"),
			condition(modelv1.ConditionApplied, "True", modelv1.ReasonApplied, "all children are as the box says"),
		},
	}
}
