// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// box returns what the flags say. Nothing that is its default is in it.
func (o *Options) box() (*modelv1.ModelBox, error) {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: o.name, Namespace: o.namespace},
		Spec: modelv1.ModelBoxSpec{
			Image:        o.Image,
			Command:      o.Command,
			Workload:     modelv1.Workload(o.Workload),
			ResourceType: modelv1.ResourceType(o.Size),
		},
	}
	if o.Replicas != modelv1.DefaultReplicas {
		box.Spec.Replicas = &o.Replicas
	}
	for _, text := range o.Ports {
		port, err := parsePort(text)
		if err != nil {
			return nil, fmt.Errorf("--port=%s: %w", text, err)
		}
		box.Spec.Ports = append(box.Spec.Ports, port)
	}
	for _, text := range o.Envs {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--env=%s: must be NAME=VALUE", text)
		}
		box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: name, Value: value})
	}
	for _, text := range o.Storage {
		storage, err := parseStorage(text)
		if err != nil {
			return nil, fmt.Errorf("--storage=%s: %w", text, err)
		}
		box.Spec.Storage = append(box.Spec.Storage, storage)
	}
	if o.Schedule != "" {
		box.Spec.CronJob = &modelv1.ModelBoxCronJobSpec{Schedule: o.Schedule}
		box.Spec.Workload = cmp.Or(box.Spec.Workload, modelv1.WorkloadCronJob)
	}
	if len(o.Hosts) > 0 {
		box.Spec.Ingress = &modelv1.ModelBoxIngress{Hosts: o.Hosts}
	}
	return box, nil
}

// parsePort reads [NAME:]PORT[:TARGETPORT][/PROTOCOL]. A name has a letter, a port has none.
func parsePort(text string) (corev1.ServicePort, error) {
	port := corev1.ServicePort{}
	numbers, protocol, hasProtocol := strings.Cut(text, "/")
	if hasProtocol {
		port.Protocol = corev1.Protocol(strings.ToUpper(protocol))
	}
	parts := strings.Split(numbers, ":")
	number, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil && len(parts) > 1 {
		port.Name = parts[0]
		parts = parts[1:]
		number, err = strconv.ParseInt(parts[0], 10, 32)
	}
	if err != nil || len(parts) > 2 {
		return port, fmt.Errorf("must be [NAME:]PORT[:TARGETPORT][/PROTOCOL], such as 80, http:80 or 80:8080")
	}
	port.Port = int32(number)
	if len(parts) == 2 {
		port.TargetPort = intstr.Parse(parts[1])
	}
	return port, nil
}

// parseStorage reads NAME:MOUNTPATH:SIZE.
func parseStorage(text string) (modelv1.ModelBoxStorage, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return modelv1.ModelBoxStorage{}, fmt.Errorf("must be NAME:MOUNTPATH:SIZE, such as data:/var/lib/data:10Gi")
	}
	size, err := resource.ParseQuantity(parts[2])
	if err != nil {
		return modelv1.ModelBoxStorage{}, fmt.Errorf("size %q: %w", parts[2], err)
	}
	return modelv1.ModelBoxStorage{Name: parts[0], MountPath: parts[1], RequestedSize: size}, nil
}
