// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command core-validation says what package pkg/apis/core/validation refuses of the pod templates, Services, autoscalers and
// NetworkPolicies that it is given: for each object on its standard input, in JSON on a line of its own, it writes a line with the list of errors. Called
// with "version", it writes which Kubernetes has these rules.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
)

func main() {
	if slices.Equal(os.Args[1:], []string{"version"}) {
		fmt.Println(validation.Version)
		return
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "core-validation:", err)
		os.Exit(1)
	}
}

// fieldError is an error as it is written.
type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func run(in io.Reader, out io.Writer) error {
	objects, answers := bufio.NewReader(in), json.NewEncoder(out)
	for {
		object, err := objects.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		errs, err := validate(object)
		if err != nil {
			return err
		}
		answer := []fieldError{}
		for _, err := range errs {
			answer = append(answer, fieldError{Field: err.Field, Message: err.ErrorBody()})
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

func validate(object []byte) (field.ErrorList, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(object, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "PodTemplate":
		var template corev1.PodTemplate
		if err := json.Unmarshal(object, &template); err != nil {
			return nil, err
		}
		return validation.ValidatePodTemplateSpec(context.Background(), &template.Template, field.NewPath("template")), nil
	case "Service":
		var service corev1.Service
		if err := json.Unmarshal(object, &service); err != nil {
			return nil, err
		}
		return validation.ValidateService(&service), nil
	case "HorizontalPodAutoscaler":
		var autoscaler autoscalingv2.HorizontalPodAutoscaler
		if err := json.Unmarshal(object, &autoscaler); err != nil {
			return nil, err
		}
		return validation.ValidateHorizontalPodAutoscalerSpec(&autoscaler.Spec, field.NewPath("spec")), nil
	case "NetworkPolicy":
		var policy networkingv1.NetworkPolicy
		if err := json.Unmarshal(object, &policy); err != nil {
			return nil, err
		}
		return validation.ValidateNetworkPolicySpec(&policy.Spec, field.NewPath("spec")), nil
	default:
		return nil, fmt.Errorf("%q is none of PodTemplate, Service, HorizontalPodAutoscaler and NetworkPolicy", kind.Kind)
	}
}
