// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.model.v1
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model
// +k8s:defaulter-gen=TypeMeta
// +k8s:validation-gen=TypesWithField=TypeMeta
// +groupName=model.github.com

// Package v1 is the served version of the model.github.com API group.
package v1
