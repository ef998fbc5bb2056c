// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IERC20 {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

struct TokenPermissions {
    address token;
    uint256 amount;
}

struct PermitTransferFrom {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
}

struct TransferDetails {
    address to;
    uint256 requestedAmount;
}

/// The part of Permit2 that x402 pays with, for local chains only: one signed transfer with a witness, under the same
/// messages, and the bitmap of used nonces, which their owner can cancel. It has no constructor: its code is put at the
/// canonical address.
contract LocalPermit2 {
    bytes32 private constant PERMISSIONS_TYPEHASH = keccak256("TokenPermissions(address token,uint256 amount)");
    string private constant TRANSFER_TYPE =
        "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

    mapping(address owner => mapping(uint256 word => uint256)) public nonceBitmap;

    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

    error InvalidNonce();
    error InvalidSigner();
    error InvalidAmount(uint256 maxAmount);
    error SignatureExpired(uint256 deadline);

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("Permit2"),
                block.chainid,
                address(this)
            )
        );
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        TransferDetails calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessType,
        bytes calldata signature
    ) external {
        if (block.timestamp > permit.deadline) revert SignatureExpired(permit.deadline);
        if (details.requestedAmount > permit.permitted.amount) revert InvalidAmount(permit.permitted.amount);
        uint256 bit = 1 << (permit.nonce & 255);
        if (nonceBitmap[owner][permit.nonce >> 8] & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][permit.nonce >> 8] |= bit;
        bytes32 hash = keccak256(
            abi.encode(
                keccak256(abi.encodePacked(TRANSFER_TYPE, witnessType)),
                keccak256(abi.encode(PERMISSIONS_TYPEHASH, permit.permitted)),
                msg.sender,
                permit.nonce,
                permit.deadline,
                witness
            )
        );
        _requireSigned(owner, keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), hash)), signature);
        IERC20(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount);
    }

    function invalidateUnorderedNonces(uint256 word, uint256 mask) external {
        nonceBitmap[msg.sender][word] |= mask;
        emit UnorderedNonceInvalidation(msg.sender, word, mask);
    }

    function _requireSigned(address owner, bytes32 digest, bytes calldata signature) private pure {
        if (signature.length != 65) revert InvalidSigner();
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        if (ecrecover(digest, uint8(signature[64]), r, s) != owner || owner == address(0)) revert InvalidSigner();
    }
}

/// The proxy by which x402 settles the scheme upto, for local chains only: the facilitator that the payer signed for takes
/// at most what was signed, for the payee that was signed.
contract LocalUptoProxy {
    address public constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    event Settled();

    function settle(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        require(msg.sender == witness.facilitator, "UnauthorizedFacilitator");
        require(block.timestamp >= witness.validAfter, "PaymentTooEarly");
        require(amount <= permit.permitted.amount, "AmountExceedsPermitted");
        LocalPermit2(PERMIT2).permitWitnessTransferFrom(
            permit,
            TransferDetails(witness.to, amount),
            owner,
            keccak256(abi.encode(WITNESS_TYPEHASH, witness)),
            WITNESS_TYPE_STRING,
            signature
        );
        emit Settled();
    }
}
